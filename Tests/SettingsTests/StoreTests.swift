import Secrets
import SettingKit
import Testing

@testable import Settings
@testable import Stores

struct StoreTests {
  @Test("without a word of it, the store is the directory in the spool")
  func standard() throws {
    let settings = try loadSettings("").settings
    #expect(settings.stores == [StoreSettings(name: "directory", type: DirectoryStoreType())])
    #expect(settings.stores == Settings().stores)
  }

  @Test("an S3 store has all that it needs, and is called s3")
  func s3() throws {
    let (settings, folder) = try loadSettings(
      """
      store:
        type: s3
        endpoint: https://s3.example.org/base/
        bucket: photos
        addressing: virtual-host
        naming: "images/{conversation}/{message}/image.jpg"
        url: https://photos.example.org
        accessKeyFile: keys/id
        secretKeyFile: /etc/photospool/key
        sessionTokenVariable: AWS_SESSION_TOKEN
      """)
    #expect(
      settings.stores == [
        StoreSettings(
          name: "s3",
          type: made { (s3: inout S3StoreType) in
            s3.endpoint = "https://s3.example.org/base/"
            s3.bucket = "photos"
            s3.addressing = .virtualHost
            s3.naming = ObjectNaming("images/{conversation}/{message}/image.jpg") ?? .digest
            s3.url = "https://photos.example.org"
            s3.accessKey.file = "\(folder)/keys/id"
            s3.secretKey.file = "/etc/photospool/key"
            s3.sessionToken.variable = "AWS_SESSION_TOKEN"
          })
      ])
    #expect(settings.networks.map(\.store) == ["s3"])
  }

  @Test("further stores come after the standard one, by their names, each with its own type")
  func furtherStores() throws {
    let (settings, folder) = try loadSettings(
      """
      stores:
        upload: {type: presigned, endpoint: "https://photos.example.org/upload?site=1"}
        media: {type: matrix, homeserver: "http://localhost:8008/", tokenFile: token}
        archive-2: {directory: srv/archive}
        s3: {type: presigned, endpoint: "https://other.example.org", tokenVariable: TOKEN}
      """)
    #expect(settings.stores.map(\.name) == ["directory", "archive-2", "media", "s3", "upload"])
    let kinds = settings.stores.map(\.type)
    let expected: [any StoreType] = [
      DirectoryStoreType(), made { (store: inout DirectoryStoreType) in store.directory = "srv/archive" },
      made { (store: inout MatrixStoreType) in
        store.homeserver = "http://localhost:8008/"
        store.token.file = "\(folder)/token"
      },
      made { (store: inout PresignedStoreType) in
        store.endpoint = "https://other.example.org"
        store.token.variable = "TOKEN"
      },
      made { (store: inout PresignedStoreType) in store.endpoint = "https://photos.example.org/upload?site=1" },
    ]
    for (kind, expected) in zip(kinds, expected) { #expect(kind.isEqual(to: expected)) }
    #expect(settings.stores.map(\.type.isPlain) == [false, false, true, false, false])
  }

  @Test("the environment can say all of the standard store, and its relative paths start where the program was started")
  func fromTheEnvironment() throws {
    let settings = try loadSettings(
      "store:\n  type: directory\n  region: eu-central-1",
      environment: [
        "PHOTOSPOOL_STORE_TYPE": "s3", "PHOTOSPOOL_STORE_ENDPOINT": "http://s3.example.org",
        "PHOTOSPOOL_STORE_BUCKET": "photos", "PHOTOSPOOL_STORE_ACCESS_KEY_FILE": "keys/id",
        "PHOTOSPOOL_STORE_SECRET_KEY_VARIABLE": "S3_KEY",
      ]
    ).settings
    guard let s3 = settings.stores.first?.type as? S3StoreType else {
      Issue.record("no S3 store")
      return
    }
    #expect(s3.region == "eu-central-1")
    #expect(s3.accessKey.source == .file("keys/id"))
    #expect(s3.secretKey.source == .environment("S3_KEY"))
    #expect(settings.stores[0].type.isPlain)
    #expect(settings.origin(of: "store.bucket") == .environment("PHOTOSPOOL_STORE_BUCKET"))
  }

  @Test("the place of a setting of a named section is known")
  func origins() throws {
    let settings = try loadSettings("stores:\n  archive:\n    directory: /srv/archive\n").settings
    #expect(settings.origin(of: "stores.archive").description.hasSuffix("photospool.yaml:2"))
    #expect(settings.origin(of: "stores.archive.directory").description.hasSuffix("photospool.yaml:3"))
    #expect(settings.origin(of: "stores.archive.type") == .byDefault)
  }

  @Test("a variable for a named section is reported to belong in the file")
  func namedSectionsFromTheEnvironment() throws {
    #expect(
      try settingsProblems(
        "", environment: ["PHOTOSPOOL_STORES_ARCHIVE_DIRECTORY": "/a", "PHOTOSPOOL_NETWORKS_WORK_TYPE": "exec"]) == [
          "PHOTOSPOOL_NETWORKS_WORK_TYPE: `networks` are set only in the configuration file",
          "PHOTOSPOOL_STORES_ARCHIVE_DIRECTORY: `stores` are set only in the configuration file",
        ])
  }

  @Test(
    "what the environment's type lacks is told with the variable, and what the file has for another type with the line")
  func problemsAcrossSources() throws {
    #expect(
      try settingsProblems(
        "store:\n  directory: /srv/objects\n", environment: ["PHOTOSPOOL_STORE_TYPE": "presigned"]) == [
          "f:2: `store.directory` is for a store of type `directory`, and `store` is of type `presigned`",
          "PHOTOSPOOL_STORE_TYPE: `store` is of type `presigned`, which needs `endpoint`",
        ])
  }

  @Test("a file that could not be read to its end reports no missing setting")
  func brokenFile() throws {
    let told = try settingsProblems(
      "store: {type: s3\n", environment: ["PHOTOSPOOL_STORE_BUCKET": "photos", "PHOTOSPOOL_STORE_TYPE": "s3"])
    #expect(told.count == 1 && told[0].hasPrefix("f:"))
  }

  @Test(
    "a URL is one of two schemes in ASCII, without user, password and fragment",
    arguments: [
      ("https://s3.example.org", true), ("http://[::1]:9000/a", true), ("https://a.example:443?x=1", true),
      ("ftp://a.example", false), ("https://me@a.example", false), ("https://a.example/#b", false), ("https://", false),
      ("https://a.example:0", false), ("https://a.example:70000", false), ("https:///a", false),
      ("https://zoë.example", false), ("https://a b", false), ("a.example", false),
    ])
  func addresses(url: String, isGood: Bool) { #expect((WebAddress(url) != nil) == isGood) }
}
