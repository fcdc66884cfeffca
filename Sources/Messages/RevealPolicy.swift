/// What becomes of the photos that arrive in a conversation, until somebody looks at them: shown, or hidden behind their
/// blurred previews.
package enum RevealPolicy: Sendable, Equatable {
  /// Nobody has revealed a photo of it yet: whatever was set, what arrives is hidden.
  case untouched
  /// Each photo is revealed by itself.
  case each
  /// Photos are shown as they arrive.
  case automatic

  /// - Parameters:
  ///   - hasRevealed: a photo of the conversation was revealed before.
  ///   - isAutomatic: the conversation's preference; off until it is set.
  package init(hasRevealed: Bool, isAutomatic: Bool) {
    self = !hasRevealed ? .untouched : isAutomatic ? .automatic : .each
  }

  /// Whether a photo that arrives now is shown. It stays hidden or shown whatever is set later; only `reveal` shows it.
  package var showsArrivals: Bool {
    switch self {
    case .untouched, .each: false
    case .automatic: true
    }
  }
}
