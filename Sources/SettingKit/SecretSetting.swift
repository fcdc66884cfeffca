import Secrets

/// The place of a secret as the file has it: `NAMEFile` or `NAMEVariable`, of which only one may be set.
package struct SecretSetting: SettingsSection, Hashable {
  package var file: String?
  package var variable: String?

  package init() {}

  package static let rows: [Setting<SecretSetting>] = []

  /// nil if none is set.
  package var source: SecretSource? { file.map { .file($0) } ?? variable.map { .environment($0) } }

  /// Reads the secret, whose place `isComplete` has required.
  package func load() throws(SecretError) -> Secret {
    guard let source else { throw SecretError("the configuration names no place for the secret") }
    return try source.load()
  }
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
