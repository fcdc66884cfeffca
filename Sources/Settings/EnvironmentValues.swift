import SettingKit

/// Settings from the environment by key, and their errors.
struct EnvironmentValues {
  /// The documented short name of `spool.directory`.
  static let spoolVariable = "PHOTOSPOOL_SPOOL"
  private static let prefix = "PHOTOSPOOL_"
  /// Variables that are not settings: the command's, and those of the project's tests.
  private static let others: Set = ["PHOTOSPOOL_CONFIG", "PHOTOSPOOL_CORPUS", "PHOTOSPOOL_PYTHON"]
  private static let testPrefix = "PHOTOSPOOL_TEST_"

  private static let onlyInFiles = SectionFamily.allCases.map(\.rawValue) + ["routes", "watch"]

  private(set) var values = Settings.Source()
  private(set) var rejected = Set<String>()
  private(set) var problems = [SettingsProblem]()

  init(_ environment: [String: String]) {
    let keys = Dictionary(SettingsSchema.settings.map { (Self.variable(for: $0.key), $0.key) }) { first, _ in first }
    for (name, text) in environment.sorted(by: { $0.key < $1.key }) {
      if !name.hasPrefix(Self.prefix) || name.hasPrefix(Self.testPrefix) || Self.others.contains(name) { continue }
      let key = name == Self.spoolVariable ? "spool.directory" : keys[name]
      guard let setting = key.flatMap(SettingsSchema.setting) else {
        if let word = Self.onlyInFiles.first(where: { name.hasPrefix("\(Self.prefix)\($0.uppercased())_") }) {
          problems.append(SettingsProblem(place: name, sentence: "`\(word)` are set only in the configuration file"))
          continue
        }
        let meant = suggestion(for: name, among: keys.keys.sorted()).map { "; did you mean \($0)?" } ?? ""
        problems.append(SettingsProblem(place: name, sentence: "there is no such setting\(meant)"))
        continue
      }
      if let complaint = setting.complaint(about: text) {
        problems.append(SettingsProblem(place: name, sentence: complaint))
        rejected.insert(setting.key)
      } else if let other = values[setting.key], other.text != text {
        let sentence = "\(other.origin) sets `\(setting.key)` differently; keep one of them"
        problems.append(SettingsProblem(place: name, sentence: sentence))
        rejected.insert(setting.key)
      } else {
        values[setting.key] = (text, .environment(name))
      }
    }
  }

  /// The variable of a key: `photo.longestSide` is `PHOTOSPOOL_PHOTO_LONGEST_SIDE`.
  static func variable(for key: String) -> String {
    prefix + key.map { $0 == "." ? "_" : $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
  }
}
