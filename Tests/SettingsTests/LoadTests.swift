import Messages
import SettingKit
import TestSupport
import Testing

@testable import Settings
@testable import Stores

struct LoadTests {
  private func load(
    _ text: String, environment: [String: String] = [:], flags: [String: String] = [:]
  ) throws -> Settings {
    try loadSettings(text, environment: environment, flags: flags).settings
  }

  private func problems(
    file: String? = nil, fileIsExplicit: Bool = false, environment: [String: String] = [:],
    flags: [String: String] = [:]
  ) -> [String] {
    do {
      _ = try Settings.load(file: file, fileIsExplicit: fileIsExplicit, environment: environment, flags: flags)
      return []
    } catch {
      return error.problems.map(\.description)
    }
  }

  @Test("without a file, a variable or a flag every setting is at its default")
  func defaults() throws {
    let settings = try Settings.load(file: nil, fileIsExplicit: false, environment: ["HOME": "/root"], flags: [:])
    #expect(settings == Settings())
    #expect(SettingsSchema.settings.allSatisfy { settings.origin(of: $0.key) == .byDefault })
  }

  @Test(
    "a configuration with a mistake elsewhere still tells its spool, and one that may have meant another does not",
    arguments: [
      ("spool: {directory: /s}\nlgo: x\n", [:], "/s"), ("lgo: x\n", ["PHOTOSPOOL_SPOOL": "/e"], "/e"),
      ("a: [\n", ["PHOTOSPOOL_SPOOL": "/e"], "/e"), ("a: [\n", [:], nil), ("lgo: x\n", [:], nil),
      ("spool: {directry: /s}\n", [:], nil), ("spool: {directory: ''}\nlog: {level: loud}\n", [:], nil),
    ] as [(String, [String: String], String?)])
  func spoolOfAFaultyConfiguration(text: String, environment: [String: String], spool: String?) {
    let error = #expect(throws: SettingsError.self) { try load(text, environment: environment) }
    #expect(error?.spool == spool)
  }

  @Test("the defaults are those that the documentation promises")
  func promisedDefaults() {
    let settings = Settings()
    #expect(settings.spool.directory == "./spool")
    #expect(settings.inbox.text == "default")
    #expect(settings.delivery.lifetime == .seconds(5 * 24 * 3600))
    #expect(settings.photo.limits.longestSide == 2048)
    #expect(settings.photo.limits.outputBytes < 1_000_000)
    #expect(settings.photo.limits.bestQuality == 85)
    #expect(settings.photo.limits.worstQuality == 50)
    #expect(settings.photo.limits.inputBytes == 10_000_000)
    #expect(settings.photo.limits.pixels == 100_000_000)
    #expect(settings.intake.settle == .seconds(5))
    #expect(settings.seal == .xmtp)
    #expect(settings.stores[0].type as? DirectoryStoreType == DirectoryStoreType())
  }

  @Test("every kind of value comes from the file into its property")
  func everyKind() throws {
    let settings = try load(
      """
      inbox: Zoë's camera
      seal: none
      log: {level: debug, format: json}
      intake: {rescan: 90s}
      delivery:
        lookahead: 7
        lifetime: 12h
        backoff: {first: 250ms, longest: 2m}
      photo: {longestSide: "1024", inputBytes: 5 MiB}
      store:
        directory: /srv/objects   # a comment
        url: https://photos.example.org/objects?a=1&b=2
      """)
    #expect(settings.inbox.text == "Zoë's camera")
    #expect(settings.seal == .unsealed)
    #expect(settings.log.level == .debug)
    #expect(settings.log.format == .json)
    #expect(settings.intake.rescan == .seconds(90))
    #expect(settings.delivery.lookahead == 7)
    #expect(settings.delivery.lifetime == .seconds(43_200))
    #expect(settings.delivery.backoff.first == .milliseconds(250))
    #expect(settings.delivery.backoff.longest == .seconds(120))
    #expect(settings.photo.limits.longestSide == 1024)
    #expect(settings.photo.limits.inputBytes == 5_242_880)
    let store = settings.stores[0].type as? DirectoryStoreType
    #expect(store?.directory == "/srv/objects" && store?.url == "https://photos.example.org/objects?a=1&b=2")
    #expect(settings.photo.limits.outputBytes == Settings().photo.limits.outputBytes)
  }

  @Test("flag, environment, file and default take precedence in this order, and each origin is known")
  func precedence() throws {
    let text = "photo:\n  longestSide: 1001\n  bestQuality: 81\n  worstQuality: 41\n"
    let (settings, folder) = try loadSettings(
      text,
      environment: ["PHOTOSPOOL_PHOTO_LONGEST_SIDE": "1002", "PHOTOSPOOL_PHOTO_BEST_QUALITY": "82"],
      flags: ["photo.longestSide": "1003"])
    #expect(settings.photo.limits.longestSide == 1003)
    #expect(settings.photo.limits.bestQuality == 82)
    #expect(settings.photo.limits.worstQuality == 41)
    #expect(settings.photo.threads == 0)
    #expect(settings.origin(of: "photo.longestSide") == .flag)
    #expect(settings.origin(of: "photo.bestQuality") == .environment("PHOTOSPOOL_PHOTO_BEST_QUALITY"))
    #expect(settings.origin(of: "photo.worstQuality") == .file("\(folder)/photospool.yaml", line: 4))
    #expect(settings.origin(of: "photo.threads") == .byDefault)
    let told = ["photo.longestSide", "photo.bestQuality", "photo.worstQuality", "photo.threads"]
      .map { settings.origin(of: $0).description }
    #expect(told == ["command line", "PHOTOSPOOL_PHOTO_BEST_QUALITY", "\(folder)/photospool.yaml:4", "default"])
  }

  @Test("every setting can come from the environment")
  func everySettingFromTheEnvironment() throws {
    for setting in SettingsSchema.settings {
      let name = EnvironmentValues.variable(for: setting.key)
      let settings = try Settings.load(
        file: nil, fileIsExplicit: false, environment: [name: setting.defaultText], flags: [:])
      #expect(settings.origin(of: setting.key) == .environment(name))
      #expect(settings == Settings())
    }
  }

  @Test("PHOTOSPOOL_SPOOL sets the spool's directory")
  func spoolVariable() throws {
    let settings = try load("spool: {directory: /a}", environment: ["PHOTOSPOOL_SPOOL": "/b"])
    #expect(settings.spool.directory == "/b")
    #expect(settings.origin(of: "spool.directory") == .environment("PHOTOSPOOL_SPOOL"))
    #expect(
      problems(environment: ["PHOTOSPOOL_SPOOL": "/b", "PHOTOSPOOL_SPOOL_DIRECTORY": "/c"]) == [
        "PHOTOSPOOL_SPOOL_DIRECTORY: PHOTOSPOOL_SPOOL sets `spool.directory` differently; keep one of them"
      ])
    #expect(problems(environment: ["PHOTOSPOOL_SPOOL": "/b", "PHOTOSPOOL_SPOOL_DIRECTORY": "/b"]).isEmpty)
  }

  @Test("variables of commands, tests and other programs are ignored")
  func otherVariables() {
    let environment = [
      "PHOTOSPOOL_CONFIG": "x", "PHOTOSPOOL_CORPUS": "x", "PHOTOSPOOL_PYTHON": "x", "PHOTOSPOOL_TEST_CLOCK": "x",
      "PHOTO_LONGEST_SIDE": "x", "PATH": "/bin",
    ]
    #expect(problems(environment: environment).isEmpty)
  }

  @Test("an unknown variable and an invalid value are reported, with the probable intention")
  func wrongVariables() {
    let environment = [
      "PHOTOSPOOL_PHOTO_LONGEST": "1024", "PHOTOSPOOL_LOG_LEVELL": "info", "PHOTOSPOOL_UTTERLY_UNKNOWN": "1",
      "PHOTOSPOOL_SEAL": "xmpt", "PHOTOSPOOL_INBOX": "",
    ]
    #expect(
      problems(environment: environment) == [
        "PHOTOSPOOL_INBOX: `inbox` is ``; it has to be the name of one inbox: 1 to 255 bytes without control characters",
        "PHOTOSPOOL_LOG_LEVELL: there is no such setting; did you mean PHOTOSPOOL_LOG_LEVEL?",
        "PHOTOSPOOL_PHOTO_LONGEST: there is no such setting; did you mean PHOTOSPOOL_PHOTO_LONGEST_SIDE?",
        "PHOTOSPOOL_SEAL: `seal` is `xmpt`; it has to be `xmtp`, `matrix` or `none`; did you mean `xmtp`?",
        "PHOTOSPOOL_UTTERLY_UNKNOWN: there is no such setting",
      ])
  }

  @Test("an invalid flag is reported as a flag")
  func wrongFlags() {
    #expect(
      problems(flags: ["seal": "gold", "photo.size": "1"]) == [
        "command line: unknown key `photo.size`",
        "command line: `seal` is `gold`; it has to be `xmtp`, `matrix` or `none`",
      ])
  }

  @Test("an invalid value is reported even where another one takes precedence")
  func hiddenProblems() throws {
    let error = #expect(throws: SettingsError.self) {
      try load("seal: gold\n", environment: ["PHOTOSPOOL_SEAL": "silver"], flags: ["seal": "xmtp"])
    }
    #expect(error?.problems.count == 2)
  }

  @Test("two conflicting settings are reported where one was set, even when they come from two places")
  func rulesAcrossSources() throws {
    #expect(
      problems(environment: ["PHOTOSPOOL_PHOTO_BEST_QUALITY": "40"]) == [
        "PHOTOSPOOL_PHOTO_BEST_QUALITY: `photo.worstQuality` (50) is above `photo.bestQuality` (40)"
      ])
    let settings = try load(
      "delivery: {backoff: {first: 10m}}", environment: ["PHOTOSPOOL_DELIVERY_BACKOFF_LONGEST": "10m"])
    #expect(settings.delivery.backoff.first == settings.delivery.backoff.longest)
  }

  @Test("a named file must exist; a default one need not")
  func missingFile() throws {
    let scratch = try TemporaryDirectory()
    let file = scratch.path("none.yaml")
    #expect(problems(file: file, fileIsExplicit: false).isEmpty)
    #expect(problems(file: file, fileIsExplicit: true) == ["\(file): there is no such file"])
    #expect(
      problems(file: scratch.path, fileIsExplicit: false) == ["\(scratch.path): cannot read the file: Is a directory"])
  }

  @Test("an unreadable file is reported together with errors elsewhere")
  func unreadableFile() {
    // It can be opened but not read.
    #expect(
      problems(file: "/proc/self/mem", fileIsExplicit: false, flags: ["seal": "gold"]) == [
        "/proc/self/mem: cannot read the file: Input/output error",
        "command line: `seal` is `gold`; it has to be `xmtp`, `matrix` or `none`",
      ])
  }

  @Test("an empty file, one of comments, one of empty sections and one with a byte order mark are configurations")
  func emptyFiles() throws {
    for text in ["", "\n\n", "# nothing\n", "photo:\n  # nothing\nlog: ~\n", "---\n", "{}", "\u{FEFF}inbox: default\n"]
    {
      #expect(try load(text) == Settings())
    }
    #expect(try load("\u{FEFF}inbox: camera\r\nphoto:\r\n  threads: 2\r\n").photo.threads == 2)
  }

  @Test("two settings are equal when their values are, wherever these came from")
  func equality() throws {
    #expect(try load("seal: none") == load("", flags: ["seal": "none"]))
    #expect(try load("seal: none") != load(""))
  }
}
