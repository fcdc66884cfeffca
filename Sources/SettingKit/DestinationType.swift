import Secrets

/// A type of store or network, with the settings of one that is configured: all that it needs, and nothing else.
///
/// Two of them are equal when the configuration says the same of them.
package protocol DestinationType: Hashable, Sendable {
  /// The type's settings as the file has them, at their defaults at first. Two types may share a key; then kind and default
  /// are the same.
  associatedtype Section: SettingsSection

  /// The type's word in the configuration.
  static var word: String { get }

  /// nil when something is missing or forbidden, which `check` is told.
  init?(_ section: Section, _ check: SectionCheck)

  /// Where its secrets are, but for those that only its own process reads.
  var secrets: [SecretSource] { get }

  /// Whether messages, photos, tokens or signatures go unencrypted, so that others on the way can read along.
  var isPlain: Bool { get }
}

extension DestinationType {
  /// Whether the configuration says the same of both.
  package func isEqual(to other: any DestinationType) -> Bool { self == other as? Self }
}
