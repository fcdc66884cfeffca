import GRDB
import Messages

/// A search among the requests that wait or have failed.
package struct QueueFilter: Sendable, Equatable {
  /// The states of a queue that a person may choose.
  package enum State: String, CaseIterable, Sendable {
    /// Everything that is not final.
    case waiting
    case preparing, uploading, uploaded, publishing
    /// Its conversation is held.
    case held
    /// Its conversation waits for a store or a network.
    case parked
    case failed
  }

  /// Only requests of this inbox.
  package var inbox: InboxID?
  /// nil for everything that waits or has failed.
  package var state: State?
  /// Only requests to this conversation.
  package var conversation: String?
  /// Only requests with this cause of their last failure.
  package var cause: Cause?
  /// Only requests whose names, or those of their conversations, contain this, in any case of ASCII letters.
  package var text = ""

  package init(inbox: InboxID? = nil) { self.inbox = inbox }

  package var isEmpty: Bool { state == nil && conversation == nil && cause == nil && text.isEmpty }
}

extension QueueFilter {
  var hasWaiting: Bool { state != .failed }
  var hasFailed: Bool { state == nil || state == .failed }

  /// The queued requests of a filter, which go through an index of nothing else.
  ///
  /// Conditions on messages are sets of ids: a set is made once from an index of what waits, and costs no row of a request.
  var waiting: String {
    "FROM requests r INDEXED BY requests_queued WHERE r.state = 'queued'\(joined(waitingConditions))"
  }

  var failed: String {
    "FROM requests r INDEXED BY requests_over WHERE r.state = 'failed' AND r.filed = 1\(joined(failedConditions))"
  }

  private func joined(_ conditions: [String]) -> String { conditions.map { " AND \($0)" }.joined() }

  private static func inConversations(_ condition: String) -> String {
    "r.conversation_id IN (SELECT id FROM conversations WHERE \(condition))"
  }

  private var waitingConditions: [String] {
    var conditions = common
    switch state {
    case nil, .waiting, .failed: break
    case .held: conditions.append(Self.inConversations("held <> 0 AND waiting > 0"))
    case .parked: conditions.append(Self.inConversations("waits_for IS NOT NULL"))
    case .preparing, .uploading, .uploaded, .publishing:
      conditions.append(
        """
        r.id IN (SELECT request_id FROM messages INDEXED BY messages_in_progress
          WHERE draft = 0 AND state = :state AND \(LedgerSchema.inProgress))
        """)
    }
    if cause != nil {
      conditions.append(
        """
        r.id IN (SELECT request_id FROM messages \(LedgerSchema.byWaiting)
          WHERE draft = 0 AND \(LedgerSchema.waiting) AND cause = :cause)
        """)
    }
    return conditions
  }

  private var failedConditions: [String] {
    common
      + (cause == nil
        ? []
        : ["(r.cause = :cause OR EXISTS (SELECT 1 FROM messages WHERE request_id = r.id AND cause = :cause))"])
  }

  private var common: [String] {
    (inbox == nil ? [] : ["r.inbox = :inbox"])
      + (conversation == nil ? [] : [Self.inConversations("conversation = :conversation")])
      + (text.isEmpty
        ? []
        : [
          """
          (instr(lower(r.request), lower(:text)) OR r.conversation_id IN
            (SELECT id FROM conversations WHERE instr(lower(conversation), lower(:text))))
          """
        ])
  }

  var values: [String: (any DatabaseValueConvertible)?] {
    var values: [String: (any DatabaseValueConvertible)?] = [:]
    if let inbox { values["inbox"] = inbox.text }
    if let conversation { values["conversation"] = conversation }
    if let cause { values["cause"] = cause.rawValue }
    if !text.isEmpty { values["text"] = text }
    switch state {
    case .preparing, .uploading, .uploaded, .publishing: values["state"] = state?.rawValue
    case nil, .waiting, .held, .parked, .failed: break
    }
    return values
  }
}
