/// Where a setting's value came from.
public enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
  /// Nobody set it.
  case byDefault
  /// The configuration file, as it was named, and the line, counted from 1.
  case file(String, line: Int)
  /// The environment variable of this name.
  case environment(String)
  /// The command line.
  case flag

  /// As `config show` prints it: `default`, `photospool.yaml:12`, `PHOTOSPOOL_PHOTO_BYTES`, `command line`.
  public var description: String {
    switch self {
    case .byDefault: "default"
    case .file(let path, let line): "\(path):\(line)"
    case .environment(let name): name
    case .flag: "command line"
    }
  }
}

/// One thing that is wrong with the configuration.
public struct SettingsProblem: Error, Hashable, CustomStringConvertible {
  /// `photospool.yaml:12`, `photospool.yaml` where no line is to blame, a variable's name, or `command line`.
  public let place: String
  /// What is wrong there and what would be right, in one line.
  public let sentence: String

  public init(place: String, sentence: String) {
    self.place = place
    self.sentence = sentence
  }

  public var description: String { "\(place): \(sentence)" }
}

/// All that is wrong with the configuration: first what is wrong by itself, in the order of the file's lines, then of
/// the environment, then of the flags; and after it what does not fit together.
public struct SettingsError: Error, Equatable, CustomStringConvertible {
  /// At least one.
  public let problems: [SettingsProblem]
  /// The spool that the configuration names, where nothing that is wrong can concern it.
  public let spool: String?

  public init(problems: [SettingsProblem], spool: String? = nil) {
    self.problems = problems
    self.spool = spool
  }

  /// One problem a line.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
