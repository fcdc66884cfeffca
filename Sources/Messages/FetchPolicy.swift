/// The announced photos to fetch without a request. Raw values are the words of the configuration and of `prefs`.
package enum FetchPolicy: String, CaseIterable, Sendable, Codable {
  case always
  /// Those of conversations in which something was sent or a photo revealed.
  case known
  case ask

  /// Whether a photo is fetched on arrival.
  package func fetches(fromKnown isKnown: Bool) -> Bool {
    switch self {
    case .always: true
    case .known: isKnown
    case .ask: false
    }
  }
}
