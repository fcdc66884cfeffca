/// Whether photos are shown or hidden on arrival in a conversation.
package enum RevealPolicy: Sendable, Equatable {
  /// No photo was revealed yet: all are hidden, whatever the preference.
  case untouched
  /// Each photo is revealed by itself.
  case each
  /// Photos are shown on arrival.
  case automatic

  /// - Parameters:
  ///   - hasRevealed: a photo of the conversation was revealed before.
  ///   - isAutomatic: the conversation's preference, by default false.
  package init(hasRevealed: Bool, isAutomatic: Bool) {
    self = !hasRevealed ? .untouched : isAutomatic ? .automatic : .each
  }

  /// Whether a photo that arrives now is shown. Later changes do not affect it; only `reveal` shows it.
  package var showsArrivals: Bool {
    switch self {
    case .untouched, .each: false
    case .automatic: true
    }
  }
}
