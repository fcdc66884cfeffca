import Messages

/// The seam between a conversation's worker and whoever publishes its messages.
///
/// Within a conversation a network is asked for one message at a time, in order.
public protocol Network: Sendable {
  /// The network's word in the configuration, the log and the ledger.
  var name: String { get }

  /// Publishes a message, effectively once for its id however often it is asked. When it returns, the message is
  /// published for good.
  func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication

  /// Looks for a message that a process which died may have published.
  func find(_ message: MessageID, in conversation: ConversationID) async throws(DeliveryError) -> Sighting
}

/// A message as a network gets it.
public struct OutgoingMessage: Sendable {
  public enum Content: Sendable {
    case photo(Attachment)
    case text(String)
  }

  /// The idempotency key.
  public let message: MessageID
  public let request: String
  public let conversation: ConversationID
  public let inbox: InboxID
  public let content: Content

  public init(
    message: MessageID, request: String, conversation: ConversationID, inbox: InboxID, content: Content
  ) {
    self.message = message
    self.request = request
    self.conversation = conversation
    self.inbox = inbox
    self.content = content
  }
}

/// That a message is published.
public struct Publication: Sendable, Equatable {
  public let publishedAt: Timestamp
  /// The network's own id of the message, where it gives one.
  public let remoteID: String?
  /// What really stands published of a photo: after a crash it may be an earlier upload than the last one.
  public let attachment: Attachment?

  public init(publishedAt: Timestamp, remoteID: String?, attachment: Attachment?) {
    self.publishedAt = publishedAt
    self.remoteID = remoteID
    self.attachment = attachment
  }
}

/// What a network knows of a message that may have been published.
public enum Sighting: Sendable, Equatable {
  case published(Publication)
  /// It was surely not published.
  case absent
  /// The network cannot tell. Publishing again under the same id is then the way to find out.
  case unknown
}
