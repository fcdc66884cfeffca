/// The origin of a setting's value.
package enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
  case byDefault
  /// The configuration file as it was named, and the line from 1.
  case file(String, line: Int)
  /// The environment variable of this name.
  case environment(String)
  /// The command line.
  case flag

  /// As shown: `default`, `photospool.yaml:12`, `PHOTOSPOOL_PHOTO_BYTES`, `command line`.
  package var description: String {
    switch self {
    case .byDefault: "default"
    case .file(let path, let line): "\(path):\(line)"
    case .environment(let name): name
    case .flag: "command line"
    }
  }
}

/// An error in the configuration.
package struct SettingsProblem: Error, Hashable, CustomStringConvertible {
  /// `photospool.yaml:12`, `photospool.yaml` without a line, a variable's name, or `command line`.
  package let place: String
  /// The error and the remedy, in one line.
  package let sentence: String

  package init(place: String, sentence: String) {
    self.place = place
    self.sentence = sentence
  }

  package var description: String { "\(place): \(sentence)" }
}

/// All errors in the configuration: first those of single values, by line of the file, variable and flag; then
/// contradictions.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
  /// At least one.
  package let problems: [SettingsProblem]
  /// The configured spool, if no error can concern it.
  package let spool: String?

  package init(problems: [SettingsProblem], spool: String? = nil) {
    self.problems = problems
    self.spool = spool
  }

  /// One problem a line.
  package var description: String { problems.map(\.description).joined(separator: "\n") }
}
