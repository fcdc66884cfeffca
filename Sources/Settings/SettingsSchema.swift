import SettingKit

/// All settings. File keys, variables' names, reports and tests of the sample file use it. `photo.longestSide` is
/// `longestSide` below `photo` in the file, and `PHOTOSPOOL_PHOTO_LONGEST_SIDE` in the environment. Named sections,
/// `stores.NAME` and `networks.NAME`, get their rows from `SectionFamily`. Defaults are the initial values of the
/// sections' properties.
package enum SettingsSchema {
  package static let settings: [Setting<Settings>] = own + SectionFamily.allCases.flatMap(\.standardRows)

  private static let own = [
    section("spool", \.spool),
    [
      Setting("inbox", \.inbox, .identifier, "The inbox of a request that names none"),
      Setting("texts", \.texts, .word, "Whether sent texts are kept with their receipts"),
    ],
    section("log", \.log), section("metrics", \.metrics), section("intake", \.intake),
    section("delivery", \.delivery), section("photo", \.photo), section("cache", \.cache),
    section("janitor", \.janitor), section("receiving", \.receiving), section("profile", \.profile),
    section("hooks", \.hooks), section("mail", \.mail), section("web", \.web), section("cluster", \.cluster),
    [Setting("seal", \.seal, .word, "The encryption of the standard network's photos")],
    section("http", \.http),
  ].flatMap(\.self)

  private static func section<Section: SettingsSection>(
    _ key: String, _ property: WritableKeyPath<Settings, Section> & Sendable
  ) -> [Setting<Settings>] { Section.rows.map { $0.below(key, property) } }

  package static func setting(_ key: String) -> Setting<Settings>? { byKey[key] }

  private static let byKey = Dictionary(settings.map { ($0.key, $0) }) { first, _ in first }

  private static let lists = ["": ["routes", "watch"], "mail": ["accept"]]

  /// The names of settings and sections below a section of the file; "" is the file.
  static func names(below section: String) -> [String] {
    names(of: settings, below: section)
      + (lists[section] ?? []) + (section.isEmpty ? SectionFamily.allCases.map(\.rawValue) : [])
  }

  static func names(of rows: [Setting<Settings>], below section: String) -> [String] {
    let prefix = section.isEmpty ? "" : section + "."
    var names = [String]()
    for setting in rows where setting.key.hasPrefix(prefix) {
      let name = String(setting.key.dropFirst(prefix.count).prefix { $0 != "." })
      if !names.contains(name) { names.append(name) }
    }
    return names
  }
}
