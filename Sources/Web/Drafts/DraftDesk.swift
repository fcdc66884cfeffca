import Blocking
import DurableFiles
import Messages
import Spooling
import WebAccess

/// The drafts of the page: one for each conversation and inbox, seen by every session of this inbox.
///
/// A session without the right to see finds only what it put there itself.
struct DraftDesk: Sendable {
  let spool: Spool
  /// The inbox of a session without one.
  let defaultInbox: InboxID
  /// One thread, so that changes of drafts follow one another.
  let pool = BlockingPool(label: "web-drafts", threads: 1)

  /// Begins the names of the page's drafts.
  static let prefix = "web-"

  /// The draft of a conversation; nil if there is none.
  ///
  /// - Throws: `WebProblem` if there is one that the session may not see: a second one would end it.
  func find(to conversation: ConversationID, for session: WebSession) throws -> OpenDraft? {
    guard session.may(.send) else { return nil }
    let draft = try OpenDraft.all(withPrefix: Self.prefix, in: spool).first {
      $0.conversation == conversation && isOf(session, $0)
    }
    if let draft, !isVisible(draft, for: session) {
      throw WebProblem(.conflict, "Somebody else is writing a message to this conversation. Send yours at once.")
    }
    return draft
  }

  /// The draft of this name; nil if there is none that the session may change.
  func draft(_ name: String, for session: WebSession) throws -> OpenDraft? {
    guard name.hasPrefix(Self.prefix), let name = RequestName(name), let draft = try OpenDraft(name, in: spool),
      isOf(session, draft), isVisible(draft, for: session)
    else { return nil }
    return draft
  }

  /// Puts something into the draft of a conversation, which begins with it if there is none.
  func add(
    to conversation: ConversationID, for session: WebSession, _ fill: (OpenDraft) throws -> Void
  ) throws -> OpenDraft {
    _ = try RequestReader.conversation(conversation.text)
    if let draft = try find(to: conversation, for: session) {
      try fill(draft)
      return draft
    }
    let name = RequestName(Self.own(session) + String(UInt64.random(in: 0 ... .max), radix: 36))
    guard let name else { throw Refusal.badName }
    return try OpenDraft.begin(name, in: spool, to: conversation, from: session.inbox, fill: fill)
  }

  /// Deletes the draft if nothing is left in it.
  func tidy(_ draft: OpenDraft) throws {
    if try draft.photos().isEmpty, try draft.text() == nil { try draft.delete(by: Spool.unnamed()) }
  }

  private static func own(_ session: WebSession) -> String { "\(prefix)\(session.id)-" }

  private func isOf(_ session: WebSession, _ draft: OpenDraft) -> Bool {
    (draft.inbox ?? defaultInbox) == (session.inbox ?? defaultInbox)
  }

  private func isVisible(_ draft: OpenDraft, for session: WebSession) -> Bool {
    session.may(.see) || draft.name.text.hasPrefix(Self.own(session))
  }
}
