/// The state of a received photo. Raw values are the words of the ledger and of `photos`.
package enum ReceivedState: String, CaseIterable, Sendable, Codable {
  /// Announced; fetched only on request.
  case offered
  /// To be fetched, now or at its next attempt.
  case wanted
  case downloading
  /// It was completely in the cache. An evicted one can be wanted again.
  case downloaded
  /// It cannot be fetched as announced, or was not in time.
  case failed
  /// Announced long ago and not fetched: only the fact of its receipt is known.
  case forgotten

  /// The events of a received photo.
  package enum Event: Sendable {
    /// A person or a preference wants it.
    case want
    case begin
    /// An attempt failed temporarily, or was interrupted.
    case postpone
    case finish
    case fail
    /// It is too old to be offered.
    case forget
  }

  /// The state after `event`; nil if it does not apply.
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
