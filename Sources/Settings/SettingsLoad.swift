import Configuration
import Synchronization

extension Settings {
  /// Reads the configuration: a flag goes before the environment, that before the file, that before the default.
  ///
  /// Everything is checked, also a value that another one takes precedence over, and every problem is told at once.
  ///
  /// - Parameters:
  ///   - file: the configuration file; nil where there is none. `SettingsLocation` finds it.
  ///   - fileIsExplicit: whether somebody named the file, so that it has to be there.
  ///   - environment: all variables of the process; only those whose names begin with `PHOTOSPOOL_` are looked at.
  ///   - flags: values given on the command line, by dotted key.
  public static func load(
    file: String?, fileIsExplicit: Bool, environment: [String: String], flags: [String: String]
  ) throws(SettingsError) -> Settings {
    var sources = [Source(values: [:]), Source(values: [:]), Source(values: [:])]
    var problems = [SettingsProblem]()
    var rejected = Set<String>()

    if let file {
      do throws(SettingsProblem) {
        let found = try FileValues(path: file, isExplicit: fileIsExplicit)
        sources[2] = Source(values: found.values.mapValues { ($0.text, .file(file, line: $0.line)) })
        problems += found.problems
        rejected.formUnion(found.rejected)
      } catch {
        problems.append(error)
      }
    }

    let variables = EnvironmentValues(environment)
    sources[1] = Source(values: variables.values.mapValues { ($0.text, .environment($0.variable)) })
    problems += variables.problems
    rejected.formUnion(variables.rejected)

    var given = [String: (text: String, origin: SettingOrigin)]()
    for (key, text) in flags.sorted(by: { $0.key < $1.key }) {
      let setting = SettingsSchema.setting(key)
      if let sentence = setting.map({ $0.complaint(about: text) }) ?? "unknown key \(quoted(key))" {
        problems.append(SettingsProblem(place: SettingOrigin.flag.description, sentence: sentence))
        rejected.insert(key)
      } else {
        given[key] = (text, .flag)
      }
    }
    sources[0] = Source(values: given)

    let settings = Settings(reading: sources)
    for rule in SettingsRule.all where rejected.isDisjoint(with: [rule.lower, rule.upper]) {
      if let problem = rule.problem(in: settings) { problems.append(problem) }
    }
    if problems.isEmpty { return settings }
    throw SettingsError(problems: problems)
  }

  /// Takes each setting from the first of the sources that has it; the values were checked.
  private init(reading sources: [Source]) {
    let winners = Winners()
    let reader = ConfigReader(providers: sources.map(\.provider), accessReporter: winners)
    for setting in SettingsSchema.settings {
      guard let text = reader.string(forKey: ConfigKey(setting.key)), setting.assign(text, in: &self) else { continue }
      origins[setting.key] = winners.last.flatMap { sources[$0].values[setting.key]?.origin }
    }
  }
}

/// One place that values come from.
private struct Source {
  let values: [String: (text: String, origin: SettingOrigin)]

  var provider: InMemoryProvider {
    InMemoryProvider(
      values: Dictionary(
        values.map { (AbsoluteConfigKey(ConfigKey($0.key)), ConfigValue(.string($0.value.text), isSecret: false)) }
      ) { first, _ in first })
  }
}

/// Remembers which of the reader's sources answered last.
private final class Winners: AccessReporter {
  private let index = Mutex<Int?>(nil)

  var last: Int? { index.withLock { $0 } }

  func report(_ event: AccessEvent) {
    // The reader asks one source after the other and stops at the first that has the key.
    index.withLock { $0 = event.providerResults.count - 1 }
  }
}
