import Control
import Ledgers
import Messages
import Spooling

/// What `photos --received` prints: everything that others announced, in the order in which it came.
struct ReceivedList {
  let isJSON: Bool
  let inbox: String?
  let conversation: String?

  func print(_ view: LedgerView, in spool: Spool) throws {
    // A daemon that does not answer is no reason to say nothing.
    let progress = (try? ControlClient.ask(.progress, in: spool.state))?.progress ?? [:]
    try view.forEachReceived(inbox: inbox, conversation: conversation) { photo in
      let line = Line(photo, progress: progress[photo.message.text])
      if isJSON { return try printJSON(line) }
      let fields = [
        line.message, line.progress.map { "\(line.state) \(Int($0 * 100)) %" } ?? line.state,
        line.hidden ? "hidden" : "shown", line.bytes.map { Terminal.bytes($0) } ?? "-",
        Terminal.age(since: photo.receivedAt), escaped(line.inbox), escaped(line.conversation),
        line.sender.map { escaped($0) } ?? "-",
        escaped(line.remote),
      ]
      Swift.print(fields.joined(separator: "  "))
      if let error = line.error {
        Swift.print("    (\(escaped(error))\(line.nextAttempt.map { "; next attempt \($0)" } ?? ""))")
      }
    }
  }

  /// The keys are never renamed once released.
  private struct Line: Encodable {
    let message: String
    let remote: String
    let inbox: String
    let conversation: String
    let sender: String?
    let state: String
    /// Of the download, 0 to 1; null when none is in flight.
    let progress: Double?
    let hidden: Bool
    let bytes: Int?
    let attempts: Int
    let nextAttempt: String?
    let cause: String?
    let error: String?
    let receivedAt: String

    init(_ photo: ReceivedRecord, progress: Double?) {
      self.progress = progress
      message = photo.message.text
      remote = photo.remote
      inbox = photo.inbox
      conversation = photo.conversation
      sender = photo.sender
      state = photo.state.rawValue
      hidden = photo.isHidden
      bytes = photo.bytes
      attempts = photo.attempts
      nextAttempt = photo.nextAttempt?.description
      cause = photo.cause
      error = photo.error
      receivedAt = photo.receivedAt.description
    }

    private enum CodingKeys: CodingKey {
      case message, remote, inbox, conversation, sender, state, hidden, bytes, attempts, nextAttempt, cause, error
      case receivedAt, progress
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(message, forKey: .message)
      try container.encode(remote, forKey: .remote)
      try container.encode(inbox, forKey: .inbox)
      try container.encode(conversation, forKey: .conversation)
      try container.encode(sender, forKey: .sender)
      try container.encode(state, forKey: .state)
      try container.encode(progress, forKey: .progress)
      try container.encode(hidden, forKey: .hidden)
      try container.encode(bytes, forKey: .bytes)
      try container.encode(attempts, forKey: .attempts)
      try container.encode(nextAttempt, forKey: .nextAttempt)
      try container.encode(cause, forKey: .cause)
      try container.encode(error, forKey: .error)
      try container.encode(receivedAt, forKey: .receivedAt)
    }
  }
}
