import ArgumentParser
import SettingKit

/// The value of `--timeout`: seconds, or a duration as in the configuration; at most a year.
struct TimeLimit: ExpressibleByArgument {
  let seconds: Double

  init(seconds: Double) { self.seconds = seconds }

  init?(argument: String) {
    let parsed = Double(argument) ?? DurationText.parse(argument).map { $0 / .seconds(1) }
    guard let parsed, (0...31_536_000).contains(parsed) else { return nil }
    seconds = parsed
  }

  var defaultValueDescription: String { "\(Int(seconds))s" }
}
