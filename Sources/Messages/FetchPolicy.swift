/// Which announced photos are fetched before anybody asks for them. The raw values are the words of the configuration
/// and of `prefs`.
package enum FetchPolicy: String, CaseIterable, Sendable, Codable {
  case always
  /// Those of conversations that are known: something was sent there, or a photo of it was revealed.
  case known
  /// None.
  case ask

  /// Whether a photo is fetched as it arrives.
  package func fetches(fromKnown isKnown: Bool) -> Bool {
    switch self {
    case .always: true
    case .known: isKnown
    case .ask: false
    }
  }
}
