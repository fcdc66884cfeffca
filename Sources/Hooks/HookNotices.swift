import Messages

/// The event of a finished request: names and states, no text, photo or key. Keys are never renamed once released, and
/// absent if they do not apply.
package struct RequestNotice: Encodable, Sendable {
  package struct Message: Encodable, Sendable {
    package let message: String
    package let kind: String
    package let state: String
    package let publishedAt: String?
    /// The network's own id of the message.
    package let remote: String?

    package init(message: String, kind: String, state: String, publishedAt: String?, remote: String?) {
      self.message = message
      self.kind = kind
      self.state = state
      self.publishedAt = publishedAt
      self.remote = remote
    }
  }

  package let event: HookEvent
  package let request: String
  package let conversation: String?
  package let inbox: String
  package let error: String?
  package let acceptedAt: String
  package let finishedAt: String
  package let messages: [Message]

  package init(
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

/// The event of a received photo; `photospool view MESSAGE` prints the path of what may be shown.
package struct PhotoNotice: Encodable, Sendable {
  package let event = HookEvent.received
  package let message: String
  package let conversation: String
  package let inbox: String
  /// The sender in the network's words; absent if unknown.
  package let sender: String?
  package let receivedAt: String

  package init(message: String, conversation: String, inbox: String, sender: String?, receivedAt: String) {
    self.message = message
    self.conversation = conversation
    self.inbox = inbox
    self.sender = sender
    self.receivedAt = receivedAt
  }

  private enum CodingKeys: CodingKey { case event, message, conversation, inbox, sender, receivedAt }
}
