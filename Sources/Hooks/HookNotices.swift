import Messages

/// What a program is told of a request that is over: names and states, no text, no photo and no key. Keys are never
/// renamed once released; one that does not apply is absent.
public struct RequestNotice: Encodable, Sendable {
  public struct Message: Encodable, Sendable {
    public let message: String
    public let kind: String
    public let state: String
    public let publishedAt: String?
    /// The network's own id of the message.
    public let remote: String?

    public init(message: String, kind: String, state: String, publishedAt: String?, remote: String?) {
      self.message = message
      self.kind = kind
      self.state = state
      self.publishedAt = publishedAt
      self.remote = remote
    }
  }

  public let event: HookEvent
  public let request: String
  public let conversation: String?
  public let inbox: String
  public let error: String?
  public let acceptedAt: String
  public let finishedAt: String
  public let messages: [Message]

  public init(
    event: HookEvent, request: String, conversation: String?, inbox: String, error: String?, acceptedAt: String,
    finishedAt: String, messages: [Message]
  ) {
    self.event = event
    self.request = request
    self.conversation = conversation
    self.inbox = inbox
    self.error = error
    self.acceptedAt = acceptedAt
    self.finishedAt = finishedAt
    self.messages = messages
  }
}

/// What a program is told of a photo that was received; `photospool view MESSAGE` prints what may be shown of it.
public struct PhotoNotice: Encodable, Sendable {
  public let event = HookEvent.received
  public let message: String
  public let conversation: String
  public let inbox: String
  /// Who sent it, as its network calls them; absent when nobody said so.
  public let sender: String?
  public let receivedAt: String

  public init(message: String, conversation: String, inbox: String, sender: String?, receivedAt: String) {
    self.message = message
    self.conversation = conversation
    self.inbox = inbox
    self.sender = sender
    self.receivedAt = receivedAt
  }

  private enum CodingKeys: CodingKey { case event, message, conversation, inbox, sender, receivedAt }
}
