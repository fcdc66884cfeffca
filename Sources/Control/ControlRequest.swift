/// What a command asks of the running daemon: one JSON object on one line over the socket `state/control`.
package enum ControlRequest: Codable, Sendable, Equatable {
  case cancel([String])
  case hold([String])
  case release([String])
  case flush
  /// Photos, by their ids here, that are to be shown from now on.
  case reveal([String])
  /// Photos that are to be fetched now.
  case want([String])
  /// A photo that somebody has looked at.
  case viewed(String)
  /// What is to be changed of a conversation's preferences, in the words of `prefs`.
  case prefer(conversation: String, fetch: String?, autoReveal: Bool?)
  /// What is fetched of what comes to an inbox, in the word of `prefs`.
  case preferInInbox(inbox: String, fetch: String)
  /// How far the uploads in flight have come.
  case progress
  /// What only the daemon measures, as text for Prometheus.
  case metrics
  /// How listening to networks goes.
  case listening
}

/// What the daemon answers: one JSON object on one line.
package struct ControlReply: Codable, Sendable, Equatable {
  /// What became of one request or conversation that was named.
  package struct Outcome: Codable, Sendable, Equatable {
    package let subject: String
    /// Whether all of what was asked was done.
    package let isDone: Bool
    package let sentence: String

    package init(_ subject: String, isDone: Bool, _ sentence: String) {
      self.subject = subject
      self.isDone = isDone
      self.sentence = sentence
    }
  }

  package var outcomes: [Outcome] = []
  /// By message: 0 to 1 of its upload.
  package var progress: [String: Double] = [:]
  /// The metrics that were asked for.
  package var metrics: String?
  /// Why the daemon itself cannot go on; one sentence.
  package var trouble: String?
  /// Why the request could not be carried out at all.
  package var error: String?

  package init(
    outcomes: [Outcome] = [], progress: [String: Double] = [:], metrics: String? = nil, trouble: String? = nil,
    error: String? = nil
  ) {
    self.outcomes = outcomes
    self.progress = progress
    self.metrics = metrics
    self.trouble = trouble
    self.error = error
  }
}
