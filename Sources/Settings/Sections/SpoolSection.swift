import SettingKit

extension Settings {
  package struct Spool: SettingsSection {
    package var directory = "./spool"
    package var user: String?

    package init() {}

    package static let rows: [Setting<Spool>] = [
      Setting("directory", \.directory, .directory, "The directory that is the instance"),
      Setting(
        "user", \.user, .optional(.user),
        "The user that `run` changes to when root starts it; empty is the owner of the spool"),
    ]
  }
}
