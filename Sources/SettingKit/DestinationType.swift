import Secrets

/// A type of store or network. Its values are the settings of one, and equal values have the same configuration. Types
/// that share a key give it the same kind and default.
package protocol DestinationType: SettingsSection, Hashable {
  /// The type's word in the configuration.
  static var word: String { get }
  /// Whether nothing is missing or forbidden; `check` reports what is. Only then is the destination made.
  func isComplete(_ check: SectionCheck) -> Bool
  /// The places of its secrets, except those that only its own process reads.
  var secrets: [SecretSource] { get }

  /// Whether messages, photos, tokens or signatures are sent unencrypted.
  var isPlain: Bool { get }
}

extension DestinationType {
  package func isEqual(to other: any DestinationType) -> Bool { self == other as? Self }
}
