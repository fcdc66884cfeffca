import Digests
import DurableFiles
import Ledgers
import Messages
import Spooling

/// The photos that lie in the cache, oldest first.
struct FoundPhotos {
  private(set) var all: [FoundPhoto] = []
  /// Photos whose inbox or conversation only the ledger knew: names that were too long to be kept whole.
  private(set) var unreadable = 0

  private static let most = 1 << 30

  /// - Parameters:
  ///   - unsent: photos that are prepared again when their turn comes.
  ///   - receipts: what is known of those that were sent lately.
  init(in spool: Spool, except unsent: Set<MessageID>, receipts: [MessageID: Receipt.Message]) throws {
    for inboxName in try spool.photos.directoryNames() {
      let inboxDirectory = try spool.photos.directory(inboxName)
      for conversationName in try inboxDirectory.directoryNames() {
        let conversationDirectory = try inboxDirectory.directory(conversationName)
        for message in try conversationDirectory.directoryNames()
        where !unsent.contains(MessageID(unchecked: message)) {
          guard let inbox = InboxID(fileName: inboxName),
            let conversation = ConversationID(fileName: conversationName)
          else {
            unreadable += 1
            continue
          }
          let directory = try conversationDirectory.directory(message)
          if let photo = try Self.photo(
            MessageID(unchecked: message), in: directory, inbox, conversation, receipts: receipts)
          {
            all.append(photo)
          }
        }
      }
    }
    all.sort { $0.createdAt < $1.createdAt }
  }

  private static func photo(
    _ message: MessageID, in directory: Directory, _ inbox: InboxID, _ conversation: ConversationID,
    receipts: [MessageID: Receipt.Message]
  ) throws -> FoundPhoto? {
    var bytes = 0
    var digest = ""
    if try directory.entry("original.jpg")?.kind == .file {
      var hasher = SHA256Hasher()
      bytes = try directory.file("original.jpg").read(limit: most) { hasher.update($0) }
      digest = hasher.finish().hex
    }
    var thumbnailBytes = 0
    for name in ["thumbnail.jpg", "blurred.jpg"] { thumbnailBytes += try directory.entry(name)?.size ?? 0 }
    guard bytes + thumbnailBytes > 0 else { return nil }
    let receipt = receipts[message]
    return FoundPhoto(
      message: message, inbox: inbox, conversation: conversation,
      path: PhotoCache.path(inbox: inbox, conversation: conversation, message: message), bytes: bytes, digest: digest,
      thumbnailBytes: thumbnailBytes, width: receipt?.width ?? 0, height: receipt?.height ?? 0, url: receipt?.url,
      createdAt: Timestamp(milliseconds: try directory.entry().modified / 1_000_000))
  }
}

extension Directory {
  fileprivate func directoryNames() throws -> [String] {
    try names().filter { try entry($0)?.kind == .directory }
  }
}
