import Messages

/// A request to the running daemon: one line of JSON over the socket `state/control`.
package enum ControlRequest: Codable, Sendable, Equatable {
  case cancel([String])
  case hold([String])
  case release([String])
  case flush
  /// Reveals photos, by their ids here.
  case reveal([String])
  /// Hides revealed photos again, by their ids here.
  case hide([String])
  /// Fetches photos now.
  case want([String])
  /// Records a view of a photo.
  case viewed(String)
  /// Changes the preferences of a conversation, in the words of `prefs`.
  case prefer(conversation: String, fetch: String?, autoReveal: Bool?)
  /// Changes the fetch policy of an inbox, in the words of `prefs`.
  case preferInInbox(inbox: String, fetch: String)
  /// Clears the cache of photos that can be fetched again, of an inbox, of a conversation, or of all.
  case clear(inbox: String?, conversation: String?)
  /// The progress of running uploads.
  case progress
  /// Metrics that only the daemon has, as Prometheus text.
  case metrics
  /// The state of listening to networks.
  case listening
  /// Tests the daemon's destinations, without sending.
  case check
  /// Checks the daemon's spool and computer.
  case checkSpool
  /// The state of the daemon's destinations.
  case destinations
  /// The objects in the daemon's `directory` stores.
  case objects
}

/// The daemon's answer: one line of JSON.
package struct ControlReply: Codable, Sendable, Equatable {
  /// The result for one named request or conversation.
  package struct Outcome: Codable, Sendable, Equatable {
    package let subject: String
    package let isDone: Bool
    package let sentence: String

    package init(_ subject: String, isDone: Bool, _ sentence: String) {
      self.subject = subject
      self.isDone = isDone
      self.sentence = sentence
    }
  }

  /// The state of a store or network.
  package struct Destination: Codable, Sendable, Equatable {
    package let name: String
    /// Why it is left alone; nil while it is used.
    package let error: String?
    /// Since when.
    package let since: Timestamp?
    /// When it is tried next; nil while nothing waits for it.
    package let nextProbe: Timestamp?

    package init(_ name: String, error: String? = nil, since: Timestamp? = nil, nextProbe: Timestamp? = nil) {
      self.name = name
      self.error = error
      self.since = since
      self.nextProbe = nextProbe
    }
  }

  /// Files and their bytes.
  package struct Objects: Codable, Sendable, Equatable {
    package let count: Int
    package let bytes: Int

    package init(count: Int, bytes: Int) {
      self.count = count
      self.bytes = bytes
    }
  }

  package var outcomes: [Outcome] = []
  package var objects: Objects?
  /// Stores, then networks.
  package var destinations: [Destination]?
  /// Upload progress by message, 0 to 1.
  package var progress: [String: Double] = [:]
  package var metrics: String?
  /// Why the daemon itself cannot continue; one sentence.
  package var trouble: String?
  /// Why the request failed as a whole.
  package var error: String?

  package init(
    outcomes: [Outcome] = [], destinations: [Destination]? = nil, progress: [String: Double] = [:],
    metrics: String? = nil, objects: Objects? = nil, trouble: String? = nil, error: String? = nil
  ) {
    self.destinations = destinations
    self.outcomes = outcomes
    self.progress = progress
    self.metrics = metrics
    self.objects = objects
    self.trouble = trouble
    self.error = error
  }
}
