// swift-tools-version: 6.2
import PackageDescription

/// Dependencies point down this list and never up; `make lint` checks that. `docs/architecture.md` describes the modules.
let package = Package(
  name: "photospool",
  products: [
    .executable(name: "photospool", targets: ["photospool"]),
    .executable(name: "photospool-darkroom", targets: ["photospool-darkroom"]),
    .executable(name: "photospool-web", targets: ["photospool-web"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // The command: one file per verb.
    .executableTarget(
      name: "photospool",
      dependencies: [
        "CKernel", "CQRCode", "Composition", "Control", "Darkroom", "Delivery", "Digests", "DurableFiles", "HTTP",
        "HotFolders", "Janitor", "Ledgers", "LogOutput", "MailIntake", "MailParsing", "Messages", "Photos",
        "Rebuilding", "Receiving", "SettingKit", "Settings", "SpoolMetering", "Spooling", "WebAccess",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ]),

    // The process in which hostile images are decoded and hostile mails parsed: sandboxed, and linked with nothing else.
    .executableTarget(
      name: "photospool-darkroom",
      dependencies: ["CKernel", "CSandbox", "Imaging", "MailParsing", "Messages", "Photos"]),

    // The web page: a process without secrets but its certificate's key, and without connections of its own.
    .executableTarget(name: "photospool-web", dependencies: ["Web"]),
    .target(
      name: "Web",
      dependencies: [
        "Blocking", "CKernel", "Control", "Digests", "DurableFiles", "Ledgers", "LogOutput", "Messages", "Settings",
        "SpoolMetering", "Spooling", "WebAccess",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HummingbirdHTTP2", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"), .product(name: "Mustache", package: "swift-mustache"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      resources: [.embedInCode("Assets")]),

    // Makes the daemon and its parts from the configuration. Nothing else knows every module.
    .target(
      name: "Composition",
      dependencies: [
        "Blocking", "Clusters", "Control", "Darkroom", "Delivery", "Digests", "DurableFiles", "HTTP", "Hooks",
        "Janitor", "Ledgers", "LogOutput", "MailIntake", "Matrix", "Messages", "NATS", "Networks", "Photos",
        "Receiving", "Seals", "Secrets", "SettingKit", "Settings", "Signalling", "Spooling", "Stores", "Supervision",
        "WebAccess", .product(name: "Logging", package: "swift-log"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ]),

    // The core. It knows the protocols of stores and networks, and none of their types.
    .target(
      name: "Delivery",
      dependencies: [
        "Blocking", "CKernel", "Clusters", "Control", "Digests", "DurableFiles", "Hooks", "Janitor", "Ledgers",
        "MailIntake", "Messages", "MetricText", "Networks", "Photos", "Receiving", "Seals", "Settings", "Signalling",
        "SpoolMetering", "Spooling", "Stores", "Supervision", .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ]),

    // The state of spool and ledger as metrics, for the daemon, the command and the page.
    .target(name: "SpoolMetering", dependencies: ["Ledgers", "Messages", "MetricText", "Settings"]),

    // Makes a new ledger from the spool.
    .target(
      name: "Rebuilding", dependencies: ["Digests", "DurableFiles", "Janitor", "Ledgers", "Messages", "Spooling"]),

    // Keeps storage in bounds: limits, purges, housekeeping. Delivery purges with it.
    .target(
      name: "Janitor",
      dependencies: ["Blocking", "Digests", "DurableFiles", "Ledgers", "Messages", "Settings", "Spooling"]),

    // Photos that others sent: fetched, opened, kept.
    .target(
      name: "Receiving",
      dependencies: [
        "Blocking", "Digests", "DurableFiles", "HTTP", "Ledgers", "Matrix", "Messages", "Networks", "Photos", "Seals",
        "Secrets", "Settings", "Signalling", "Spooling", .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),

    // Folders whose images become requests.
    .target(
      name: "HotFolders",
      dependencies: [
        "CInotifyTools", "Digests", "DurableFiles", "Messages", "Photos", "Settings", "Spooling",
        .product(name: "Logging", package: "swift-log"),
      ]),

    // Mails that become requests.
    .target(
      name: "MailIntake",
      dependencies: [
        "Blocking", "Darkroom", "Digests", "DurableFiles", "MailParsing", "Messages", "Settings", "Signalling",
        "Spooling", .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),

    // Programs that are told what has happened.
    .target(
      name: "Hooks",
      dependencies: [
        "Children", "Messages", "Settings", "Signalling", .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),

    // Lines of the log, on standard error.
    .target(
      name: "LogOutput",
      dependencies: [
        "CKernel", "Messages", "Settings", "Signalling", .product(name: "Logging", package: "swift-log"),
      ]),

    // Processes that decode photos.
    .target(
      name: "Darkroom",
      dependencies: [
        "Blocking", "CKernel", "Children", "DurableFiles", "MailParsing", "Messages", "Photos", "Settings",
      ]),

    // The configuration, and the destinations whose settings it holds.
    .target(
      name: "Settings",
      dependencies: [
        "HTTP", "Messages", "Networks", "Photos", "Seals", "SettingKit", "Stores",
        .product(name: "Yams", package: "Yams"),
      ]),
    .target(
      name: "Networks",
      dependencies: [
        "Blocking", "CKernel", "Children", "Digests", "DurableFiles", "GoogleCloud", "HTTP", "Matrix", "Messages",
        "Olm", "RoomKeys", "Seals", "Secrets", "SettingKit", "Stores",
      ]),
    .target(
      name: "Stores",
      dependencies: [
        "Blocking", "Clusters", "Digests", "DurableFiles", "GoogleCloud", "HTTP", "Matrix", "Messages", "Seals",
        "Secrets", "SettingKit", "Signalling",
      ]),
    .target(name: "SettingKit", dependencies: ["Messages", "Secrets"]),

    // Who may open the page: links, sessions, and its socket.
    .target(name: "WebAccess", dependencies: ["Digests", "DurableFiles", "Messages", "Spooling"]),

    // Requests on disk, how they come in, and what is recorded of them.
    .target(name: "Control", dependencies: ["CKernel", "DurableFiles", "Messages"]),
    .target(name: "Spooling", dependencies: ["CInotifyTools", "Digests", "DurableFiles", "Messages", "Signalling"]),
    .target(
      name: "Ledgers",
      dependencies: [
        "CSQLite", "CleanPages", "Clusters", "Digests", "DurableFiles", "Messages",
        .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),

    // A photo is decoded, prepared and sealed.
    .target(
      name: "Imaging",
      dependencies: [
        "CDE265", "CDav1d", "CHEIF", "CJPEG", "CLittleCMS", "CPNG", "CPixels", "CWebP", "CZlib", "Messages", "Photos",
      ],
      // Pixel work without the optimiser is a hundred times slower, also under test.
      swiftSettings: [.unsafeFlags(["-O"], .when(configuration: .debug))]),
    .target(
      name: "MailParsing", dependencies: ["Photos"],
      // As for pixels: a mail of 40 MB is read byte by byte.
      swiftSettings: [.unsafeFlags(["-O"], .when(configuration: .debug))]),
    // That queue on NATS JetStream.
    .target(name: "NATS", dependencies: ["Blocking", "CNATS", "Clusters", "Digests", "Messages"]),
    // The queue that the hosts of a cluster share, and what is sealed into it.
    .target(name: "Clusters", dependencies: ["Digests", "Messages", "Seals"]),
    .target(name: "Photos", dependencies: ["CKernel", "Messages"]),
    .target(name: "Seals", dependencies: ["COpenSSL", "CZlib", "Digests", "Messages"]),

    // Keys of encrypted Matrix rooms that others gave us, and what they open.
    .target(
      name: "RoomKeys",
      dependencies: [
        "Blocking", "CleanPages", "Digests", "DurableFiles", "Matrix", "Messages", "Olm",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),

    // Modules that most others use.
    .target(name: "Matrix", dependencies: ["HTTP", "Messages", "Secrets"]),
    .target(name: "GoogleCloud", dependencies: ["COpenSSL", "Digests", "HTTP", "Messages", "Secrets"]),
    .target(name: "HTTP", dependencies: ["CCurl", "Messages", "Signalling"]),
    .target(name: "Secrets"),
    .target(name: "DurableFiles", dependencies: ["CKernel"]),
    // SQLite files without remains of deleted rows.
    .target(
      name: "CleanPages",
      dependencies: [
        "CSQLite", .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(name: "Children", dependencies: ["CKernel", "Messages"]),
    // Olm and Megolm: the ratchets of Matrix' encrypted rooms, bytes only.
    .target(name: "Olm", dependencies: ["COpenSSL", "Digests"]),
    .target(name: "Digests", dependencies: ["COpenSSL", "Messages"]),
    .target(name: "Blocking"),
    .target(name: "Signalling", dependencies: [.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")]),
    .target(name: "Messages"),
    .target(name: "MetricText"),
    .target(name: "Supervision"),

    // One module per C library.
    .target(name: "CKernel"),
    .target(name: "CCurl"),
    .target(name: "CNATS"),
    // Inner loops need the optimiser, also under test.
    .target(name: "CPNG", cSettings: [.unsafeFlags(["-O2"])]),
    .target(name: "CPixels", cSettings: [.unsafeFlags(["-O3"])]),
    .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "CSandbox"),
    .target(name: "CJPEG", cSettings: [.unsafeFlags(["-O2"])], linkerSettings: [.linkedLibrary("jpeg")]),
    .systemLibrary(name: "CDE265", pkgConfig: "libde265", providers: [.apt(["libde265-dev"])]),
    .systemLibrary(name: "CDav1d", pkgConfig: "dav1d", providers: [.apt(["libdav1d-dev"])]),
    .systemLibrary(name: "CQRCode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CWebP", providers: [.apt(["libwebp-dev"])]),
    .systemLibrary(name: "CHEIF", pkgConfig: "libheif", providers: [.apt(["libheif-dev"])]),
    .systemLibrary(
      name: "CLittleCMS", pkgConfig: "lcms2", providers: [.apt(["liblcms2-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CInotifyTools", providers: [.apt(["libinotifytools0-dev"])]),

    // Measured by `Benchmarks/uploads.py`; not installed.
    .executableTarget(
      name: "uploads", dependencies: ["Digests", "HTTP", "Messages", "Secrets", "Stores"], path: "Benchmarks/uploads",
      exclude: ["nginx.py"]),

    // A folder of tests per module; Stories run the real program.
    .target(
      name: "TestSupport",
      dependencies: [
        "Children", "Clusters", "DurableFiles", "HTTP", "Ledgers", "Messages",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/Support", exclude: ["ledgers", "python"]),
    // Run by `make fuzz` and the tests of `FuzzTests`: every parser of outside bytes, one at a time.
    .executableTarget(
      name: "photospool-fuzz",
      dependencies: [
        "Blocking", "Children", "Control", "Digests", "DurableFiles", "GoogleCloud", "HTTP", "Imaging", "Ledgers",
        "MailParsing", "Matrix", "Messages", "Networks", "Olm", "Photos", "Receiving", "RoomKeys", "Seals", "Secrets",
        "SettingKit", "Settings", "Spooling", "Stores", "TestSupport", "Web", "WebAccess",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ],
      path: "Tests/Fuzz", exclude: ["Corpus"]),
    .testTarget(name: "FuzzTests", dependencies: ["photospool-fuzz", "TestSupport"]),
    .testTarget(name: "ClustersTests", dependencies: ["Clusters", "Messages", "Seals"]),
    .testTarget(name: "DigestsTests", dependencies: ["Digests", "Messages"]),
    .testTarget(name: "DurableFilesTests", dependencies: ["CKernel", "DurableFiles", "TestSupport"]),
    .testTarget(name: "PhotosTests", dependencies: ["Messages", "Photos"]),
    .testTarget(
      name: "ImagingTests",
      dependencies: ["CPNG", "CPixels", "CZlib", "Imaging", "Messages", "Photos", "TestSupport"],
      // The tests make and compare pictures pixel by pixel.
      swiftSettings: [.unsafeFlags(["-O"], .when(configuration: .debug))]),
    .testTarget(
      name: "MailParsingTests", dependencies: ["Digests", "MailParsing", "Photos", "TestSupport"],
      exclude: ["corpus.py"]),
    .testTarget(name: "DarkroomTests", dependencies: ["Darkroom", "Messages", "Photos", "TestSupport"]),
    .testTarget(
      name: "RoomKeysTests",
      dependencies: [
        "Digests", "DurableFiles", "Matrix", "Messages", "Olm", "RoomKeys", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(name: "OlmTests", dependencies: ["Digests", "Olm", "TestSupport"]),
    .testTarget(
      name: "HotFoldersTests",
      dependencies: [
        "DurableFiles", "HotFolders", "Settings", "Spooling", "TestSupport",
        .product(name: "InMemoryLogging", package: "swift-log"), .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "MailIntakeTests",
      dependencies: [
        "Darkroom", "DurableFiles", "MailIntake", "MailParsing", "Messages", "Settings", "Spooling", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ],
      exclude: ["charsets.py"]),
    .testTarget(name: "SealsTests", dependencies: ["Seals", "Messages", "TestSupport", "Digests"]),
    .testTarget(
      name: "StoresTests",
      dependencies: [
        "Blocking", "Clusters", "Stores", "GoogleCloud", "HTTP", "Matrix", "Messages", "Secrets", "TestSupport",
        "Digests",
      ]),
    .testTarget(
      name: "HooksTests",
      dependencies: [
        "Hooks", "Settings", "TestSupport", .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(name: "MetricTextTests", dependencies: ["MetricText", "TestSupport"]),
    .testTarget(
      name: "WebTests",
      dependencies: [
        "Messages", "Web", "WebAccess", .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"), .product(name: "NIOEmbedded", package: "swift-nio"),
      ]),
    .testTarget(name: "WebAccessTests", dependencies: ["Messages", "Spooling", "TestSupport", "WebAccess"]),
    .testTarget(name: "SignallingTests", dependencies: ["Signalling"]),
    .testTarget(name: "SupervisionTests", dependencies: ["Supervision", "TestSupport"]),
    .testTarget(name: "GoogleCloudTests", dependencies: ["GoogleCloud", "HTTP", "Messages", "Secrets", "TestSupport"]),
    .testTarget(name: "MatrixTests", dependencies: ["HTTP", "Matrix", "Messages"]),
    .testTarget(name: "NATSTests", dependencies: ["Clusters", "NATS", "TestSupport"]),
    .testTarget(name: "HTTPTests", dependencies: ["Digests", "HTTP", "Messages", "TestSupport"]),
    .testTarget(name: "SecretsTests", dependencies: ["Secrets", "TestSupport"]),
    .testTarget(
      name: "NetworksTests",
      dependencies: [
        "Blocking", "GoogleCloud", "HTTP", "Matrix", "Networks", "Messages", "Seals", "Secrets", "TestSupport",
        "Digests", "Stores", "DurableFiles",
      ],
      exclude: ["Recorded"]),
    .testTarget(
      name: "SettingsTests",
      dependencies: ["Messages", "Networks", "Secrets", "SettingKit", "Settings", "Stores", "TestSupport"],
      exclude: ["BadConfigurations"]),
    .testTarget(
      name: "SpoolingTests", dependencies: ["Spooling", "Messages", "TestSupport", "Digests", "DurableFiles"]),
    .testTarget(
      name: "LedgersTests",
      dependencies: [
        "Digests", "DurableFiles", "Ledgers", "Messages", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    // The ledger's transactions against a model of their promises, in seeded orders.
    .testTarget(
      name: "LedgerModelTests",
      dependencies: [
        "DurableFiles", "Ledgers", "Messages", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(
      name: "JanitorTests",
      dependencies: [
        "Janitor", "Messages", "Settings", "TestSupport", "Digests", "DurableFiles", "Ledgers", "Spooling",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(
      name: "ReceivingTests",
      dependencies: [
        "Digests", "DurableFiles", "HTTP", "Ledgers", "Matrix", "Messages", "Networks", "Photos", "Receiving", "Seals",
        "Secrets", "Settings", "Signalling", "Spooling", "TestSupport", .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "CompositionTests",
      dependencies: [
        "Clusters", "Composition", "Control", "DurableFiles", "Ledgers", "Messages", "Settings", "Spooling",
        "TestSupport", "WebAccess",
      ]),
    .testTarget(
      name: "RebuildingTests", dependencies: ["DurableFiles", "Messages", "Rebuilding", "Spooling", "TestSupport"]),
    .testTarget(
      name: "DeliveryTests",
      dependencies: [
        "Blocking", "Clusters", "Control", "Delivery", "Digests", "DurableFiles", "Janitor", "Ledgers", "Messages",
        "Networks", "Photos", "Seals", "Settings", "Signalling", "Spooling", "Stores", "Supervision", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
  ]
)
