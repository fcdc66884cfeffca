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

extension RequestNotice {
  fileprivate init(_ request: UnfiledRequest, _ event: HookEvent) {
    self.init(
      event: event, request: request.request, conversation: request.conversation?.description,
      inbox: request.inbox.text, error: request.error, acceptedAt: request.acceptedAt.description,
      finishedAt: request.finishedAt.description,
      messages: request.messages.map { message in
        Message(
          message: message.message.text, kind: message.kind.rawValue, state: message.state.rawValue,
          publishedAt: message.sentAt?.description, remote: message.remote)
      })
  }
}
