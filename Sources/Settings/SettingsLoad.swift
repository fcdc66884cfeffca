import SettingKit

extension Settings {
  /// The values of one place by key, as texts, and where each stands.
  private typealias Source = [String: (text: String, origin: SettingOrigin)]

  /// Reads the configuration: a flag goes before the environment, that before the file, that before the default.
  ///
  /// Everything is checked, also a value that another one takes precedence over, and every problem is told at once.
  ///
  /// - Parameters:
  ///   - file: the configuration file; nil where there is none. `SettingsLocation` finds it.
  ///   - fileIsExplicit: whether somebody named the file, so that it has to be there.
  ///   - environment: all variables of the process; only those whose names begin with `PHOTOSPOOL_` are looked at.
  ///   - flags: values given on the command line, by dotted key.
  package static func load(
    file: String?, fileIsExplicit: Bool, environment: [String: String], flags: [String: String]
  ) throws(SettingsError) -> Settings {
    var problems = [SettingsProblem]()
    var rejected = Set<String>()
    var written = FileValues(text: "", path: file ?? "")
    var isComplete = true

    if let file {
      do throws(SettingsProblem) {
        let found = try FileValues(path: file, isExplicit: fileIsExplicit)
        written = found
        isComplete = found.isComplete
        problems += found.problems
        rejected.formUnion(found.rejected)
      } catch {
        problems.append(error)
        isComplete = false
      }
    }

    let variables = EnvironmentValues(environment)
    problems += variables.problems
    rejected.formUnion(variables.rejected)

    var given = Source()
    for (key, text) in flags.sorted(by: { $0.key < $1.key }) {
      let setting = SettingsSchema.setting(key)
      if let sentence = setting.map({ $0.complaint(about: text) }) ?? "unknown key \(quoted(key))" {
        problems.append(SettingsProblem(place: SettingOrigin.flag.description, sentence: sentence))
        rejected.insert(key)
      } else {
        given[key] = (text, .flag)
      }
    }

    let sources = [
      given, variables.values.mapValues { ($0.text, .environment($0.variable)) },
      written.values.mapValues { ($0.text, .file(file ?? "", line: $0.line)) },
    ]
    var settings = Settings(reading: sources, sections: written.sections, of: file ?? "")
    for rule in SettingsRule.all where rejected.isDisjoint(with: [rule.lower, rule.upper]) {
      if let problem = rule.problem(in: settings) { problems.append(problem) }
    }
    // Of a file that was not read to its end nobody knows what it lacks.
    if isComplete {
      problems += settings.connect(routes: written.routes, of: file ?? "", rejected: rejected)
    }
    if problems.isEmpty { return settings }
    // A file that cannot be read, or in which a key is unknown, may have meant another one than the default.
    let isNamed = settings.origin(of: "spool.directory") != .byDefault && !rejected.contains("spool.directory")
    throw SettingsError(problems: problems, spool: isNamed ? settings.spool.directory : nil)
  }

  /// Takes each setting from the first of the sources that has it; the values were checked.
  private init(reading sources: [Source], sections: [FileValues.Section], of file: String) {
    var settings = SettingsSchema.settings
    for section in sections {
      switch section.family {
      case .stores: furtherStores[section.name] = Store()
      case .networks: furtherNetworks[section.name] = FurtherNetwork()
      }
      origins["\(section.family.rawValue).\(section.name)"] = .file(file, line: section.line)
      settings += section.family.rows(section.name)
    }
    for setting in settings {
      guard let (text, origin) = sources.lazy.compactMap({ $0[setting.key] }).first else { continue }
      if setting.assign(setting.isFile ? origin.resolve(text) : text, in: &self) { origins[setting.key] = origin }
    }
  }
}

extension SettingOrigin {
  /// A file's path: a relative one that the configuration file names starts in its directory, any other where the
  /// program was started.
  fileprivate func resolve(_ path: String) -> String {
    guard case .file(let file, _) = self, !path.isEmpty, !path.hasPrefix("/"), let slash = file.lastIndex(of: "/")
    else { return path }
    return file[...slash] + path
  }
}
