/// The place of a secret as the file has it: `NAMEFile` or `NAMEVariable`, of which only one may be set.
package struct SecretSetting: SettingsSection {
  package var file: String?
  package var variable: String?

  package init() {}

  package static let rows: [Setting<SecretSetting>] = []
}

extension Setting where Target: SettingsSection {
  /// The two settings of a secret.
  ///
  /// - Parameter help: what the file or the variable holds; `more` is said of the file only.
  package static func secret(
    _ name: String, _ property: WritableKeyPath<Target, SecretSetting> & Sendable, _ help: String, more: String = ""
  ) -> [Setting] {
    [
      Setting<SecretSetting>("\(name)File", \.file, .optional(.file), "The file with \(help)\(more)"),
      Setting<SecretSetting>(
        "\(name)Variable", \.variable, .optional(.variable), "The environment variable with \(help)"),
    ].map { $0.below("", property) }
  }
}
