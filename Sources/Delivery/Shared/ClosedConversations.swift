import Messages
import Synchronization

/// Conversations that are being purged: nothing of them enters the ledger.
final class ClosedConversations: Sendable {
  private let conversations = Mutex<Set<ConversationID>>([])

  var all: Set<ConversationID> { conversations.withLock { $0 } }

  func close(_ conversation: ConversationID) { conversations.withLock { _ = $0.insert(conversation) } }

  func open(_ conversation: ConversationID) { conversations.withLock { _ = $0.remove(conversation) } }
}
