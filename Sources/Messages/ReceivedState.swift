/// How far a photo that somebody sent has come. The raw values are the words of the ledger and of `photos`.
package enum ReceivedState: String, CaseIterable, Sendable, Codable {
  /// Announced. Nothing of it is fetched until somebody wants it.
  case offered
  /// To be fetched, now or at its next attempt.
  case wanted
  case downloading
  /// It was in the cache, whole. What was evicted since can be wanted again.
  case downloaded
  /// It cannot be had as it was announced, or not in time.
  case failed
  /// Announced long ago and not fetched: all that is known is that it was received.
  case forgotten

  /// What can happen to it.
  package enum Event: Sendable {
    /// Somebody, or a preference, wants it.
    case want
    /// An attempt begins.
    case begin
    /// An attempt failed for a reason that can pass, or was cut off.
    case postpone
    case finish
    case fail
    /// It is too old to be offered any longer.
    case forget
  }

  /// The state after `event`; nil when that cannot happen now.
  package func after(_ event: Event) -> ReceivedState? {
    switch (self, event) {
    case (.offered, .want), (.failed, .want), (.downloaded, .want): .wanted
    case (.wanted, .want): .wanted
    case (.downloading, .want): .downloading
    case (.wanted, .begin): .downloading
    case (.downloading, .postpone): .wanted
    case (.downloading, .finish): .downloaded
    case (.downloading, .fail): .failed
    case (.offered, .forget), (.failed, .forget): .forgotten
    case (.offered, _), (.wanted, _), (.downloading, _), (.downloaded, _), (.failed, _), (.forgotten, _): nil
    }
  }
}
