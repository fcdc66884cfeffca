import Ledgers
import Messages
import Settings
import Spooling
import WebAccess

/// The facts of a page, read at one moment for one session.
struct PageSource {
  let spool: Spool
  let settings: Settings
  let session: WebSession
  let clock: LocalTime
  /// nil if there is no ledger yet, or none that can be read.
  let ledger: LedgerView?
  /// Why the ledger cannot be read.
  let fault: LedgerError?
  /// Upload progress by message; nil if no daemon runs.
  let progress: [String: Double]?

  /// - Parameter progress: what the daemon told a moment ago; nil if none runs.
  init(
    _ spool: Spool, _ settings: Settings, _ session: WebSession, _ shelf: LedgerShelf, progress: [String: Double]?
  ) throws {
    self.spool = spool
    self.settings = settings
    self.session = session
    clock = LocalTime(now: .now())
    do { (ledger, fault) = (try shelf.viewIfThereIsOne(), nil) } catch let error as LedgerError {
      (ledger, fault) = (nil, error)
    }
    self.progress = progress
  }

  var inbox: InboxID? { session.inbox }
  static let besides = 30

  /// The values of the frame round a page.
  ///
  /// - Parameter limit: the most conversations of the list; nil for a part of a page, which has no list.
  func frame(
    current: ConversationID? = nil, filter: String = "", after place: PagePlace? = nil, limit: Int? = besides,
    notice: String? = nil, page: OperatorPage? = nil
  ) throws -> Values {
    var (conversations, end): ([ListedConversation], PagePlace?) = ([], nil)
    if let limit, let ledger, session.may(.see) {
      (conversations, end) = try ledger.conversations(inbox: inbox, filter: filter, after: place, limit: limit)
    }
    return [
      "isSendOnly": !session.may(.see), "maySend": session.may(.send), "mayOperate": session.may(.operate),
      "inbox": shown((inbox ?? settings.inbox).text), "banners": try banners(), "hasNotice": notice != nil,
      "notice": notice.map(shown) ?? "", "filter": shown(filter), "hasFilter": !filter.isEmpty,
      "conversations": conversations.map { row($0, isCurrent: $0.conversation == current) },
      "hasConversations": !conversations.isEmpty, "hasMoreConversations": end != nil,
      "moreConversations": end.map { "/?filter=\(inAddress(filter))&after=\($0)" } ?? "",
      "links": try links(current: page),
      "isOperating": page != nil,
    ]
  }

  /// Sentences about faults that a person should know of.
  private func banners() throws -> [Values] {
    func banner(_ name: String, _ sentence: String, command: String = "") -> Values {
      ["name": name, "sentence": sentence, "hasCommand": !command.isEmpty, "command": command]
    }
    let daemon = banner("daemon", "The daemon does not run: what you send waits.", command: "photospool run")
    let full = session.may(.see) ? try fullness : nil
    return (progress == nil ? [daemon] : []) + (full.map { [banner("storage", $0)] } ?? [])
      + (fault.map { [banner("ledger", shown("\($0)."))] } ?? [])
  }

  private func row(_ listed: ListedConversation, isCurrent: Bool) -> Values {
    let name = listed.conversation.text
    return [
      "conversation": shown(name), "nameQuery": inAddress(name), "isCurrent": isCurrent,
      "hasPicture": listed.photo != nil, "message": listed.photo?.message.text ?? "",
      "picture": listed.photo?.isHidden == true ? "blurred" : "thumbnail",
      "initial": shown(name.prefix(1).uppercased()),
      "time": clock.short(listed.time), "last": last(listed),
      "hasMarks": listed.failed > 0 || listed.waiting > 0 || listed.isHeld || listed.hasDraft
        || listed.photo?.isHidden == true, "hasFailed": listed.failed > 0, "failed": listed.failed,
      "hasWaiting": listed.waiting > 0, "waiting": listed.waiting, "isHeld": listed.isHeld,
      "hasHidden": listed.photo?.isHidden == true, "hasDraft": listed.hasDraft,
    ]
  }

  private func last(_ listed: ListedConversation) -> String {
    switch listed.state {
    case nil: listed.hasDraft ? "Draft" : "Photo of somebody else"
    case .pending: "Pending"
    case .preparing: "Preparing"
    case .uploading: "Uploading"
    case .uploaded: "Uploaded"
    case .publishing: "Publishing"
    case .relayed: "In the cluster"
    case .sent: "Sent"
    case .failed: "Not sent"
    case .cancelled: "Cancelled"
    }
  }
}
