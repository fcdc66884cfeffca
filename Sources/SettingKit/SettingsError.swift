/// Where a setting's value came from.
package enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
  /// Nobody set it.
  case byDefault
  /// The configuration file, as it was named, and the line, counted from 1.
  case file(String, line: Int)
  /// The environment variable of this name.
  case environment(String)
  /// The command line.
  case flag

  /// As `config show` prints it: `default`, `photospool.yaml:12`, `PHOTOSPOOL_PHOTO_BYTES`, `command line`.
  package var description: String {
    switch self {
    case .byDefault: "default"
    case .file(let path, let line): "\(path):\(line)"
    case .environment(let name): name
    case .flag: "command line"
    }
  }
}

/// One thing that is wrong with the configuration.
package struct SettingsProblem: Error, Hashable, CustomStringConvertible {
  /// `photospool.yaml:12`, `photospool.yaml` where no line is to blame, a variable's name, or `command line`.
  package let place: String
  /// What is wrong there and what would be right, in one line.
  package let sentence: String

  package init(place: String, sentence: String) {
    self.place = place
    self.sentence = sentence
  }

  package var description: String { "\(place): \(sentence)" }
}

/// All that is wrong with the configuration: first what is wrong by itself, in the order of the file's lines, then of
/// the environment, then of the flags; and after it what does not fit together.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
  /// At least one.
  package let problems: [SettingsProblem]
  /// The spool that the configuration names, where nothing that is wrong can concern it.
  package let spool: String?

  package init(problems: [SettingsProblem], spool: String? = nil) {
    self.problems = problems
    self.spool = spool
  }

  /// One problem a line.
  package var description: String { problems.map(\.description).joined(separator: "\n") }
}
