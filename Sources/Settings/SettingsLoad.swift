import SettingKit

extension Settings {
  /// Values by key as texts, with their origins.
  typealias Source = [String: (text: String, origin: SettingOrigin)]

  /// Reads the configuration: a flag precedes the environment, which precedes the file. All values are checked,
  /// overridden ones as well, and all errors are reported at once.
  ///
  /// - Parameters:
  ///   - file: the configuration file, if any; see `SettingsLocation`.
  ///   - fileIsExplicit: whether it was named and so must exist.
  ///   - environment: all variables; only names beginning with `PHOTOSPOOL_` are read.
  ///   - flags: values of the command line, by key.
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
      given, variables.values,
      written.values.mapValues { ($0.text, .file(file ?? "", line: $0.line)) },
    ]
    var settings = Settings(reading: sources, sections: written.sections, of: file ?? "")
    settings.mailRules = written.mailRules
    settings.watchedFolders = written.watchedFolders
    for rule in SettingsRule.all where rejected.isDisjoint(with: [rule.lower, rule.upper]) {
      if let problem = rule.problem(in: settings) { problems.append(problem) }
    }
    // An incomplete file may have the missing values.
    if isComplete {
      problems += settings.connect(routes: written.routes, of: file ?? "", rejected: rejected)
    }
    if problems.isEmpty { return settings }
    // An unreadable file, or an unknown key, may have meant another spool than the default.
    let isNamed = settings.origin(of: "spool.directory") != .byDefault && !rejected.contains("spool.directory")
    throw SettingsError(problems: problems, spool: isNamed ? settings.spool.directory : nil)
  }

  /// Takes each setting from the first source that has it; values are already checked.
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
  /// A file's path: a relative one in the configuration file starts in its directory, others in the working directory.
  fileprivate func resolve(_ path: String) -> String {
    guard case .file(let file, _) = self, !path.isEmpty, !path.hasPrefix("/"), let slash = file.lastIndex(of: "/")
    else { return path }
    return file[...slash] + path
  }
}
