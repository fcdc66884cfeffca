import Hooks
import Ledgers
import Messages

extension HookLine {
  /// Runs the hook of a filed request that was sent or has failed.
  func tell(ended request: UnfiledRequest) {
    switch request.state {
    case .sent: tell(.sent, RequestNotice(request, .sent))
    case .failed: tell(.failed, RequestNotice(request, .failed))
    case .queued, .cancelled, .duplicate, .draft, .abandoned: break
    }
  }
}

/// The event of a finished request: names and states, no text, photo or key. Keys are never renamed once released, and
/// absent if they do not apply.
private struct RequestNotice: Encodable {
  struct Message: Encodable {
    let message: String
    let kind: String
    let state: String
    let publishedAt: String?
    /// The network's own id of the message.
    let remote: String?
  }

  let event: HookEvent
  let request: String
  let conversation: String?
  let inbox: String
  let error: String?
  let acceptedAt: String
  let finishedAt: String
  let messages: [Message]

  init(_ request: UnfiledRequest, _ event: HookEvent) {
    self.event = event
    self.request = request.request
    conversation = request.conversation?.description
    inbox = request.inbox.text
    error = request.error
    acceptedAt = request.acceptedAt.description
    finishedAt = request.finishedAt.description
    messages = request.messages.map { message, _ in
      Message(
        message: message.message.text, kind: message.kind.rawValue, state: message.state.rawValue,
        publishedAt: message.sentAt?.description, remote: message.remote)
    }
  }
}
