import Secrets

/// A type of store or network with its settings. Equal values have the same configuration.
package protocol DestinationType: Hashable, Sendable {
  /// The type's settings in the file, initially at their defaults. Types that share a key give it the same kind and
  /// default.
  associatedtype Section: SettingsSection

  /// The type's word in the configuration.
  static var word: String { get }

  /// nil if something is missing or forbidden, which `check` reports.
  init?(_ section: Section, _ check: SectionCheck)

  /// The places of its secrets, except those that only its own process reads.
  var secrets: [SecretSource] { get }

  /// Whether messages, photos, tokens or signatures are sent unencrypted.
  var isPlain: Bool { get }
}

extension DestinationType {
  package func isEqual(to other: any DestinationType) -> Bool { self == other as? Self }
}
