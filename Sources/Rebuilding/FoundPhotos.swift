import Digests
import DurableFiles
import Ledgers
import Messages
import Spooling

/// The photos in the cache, oldest first.
struct FoundPhotos {
  private(set) var all: [FoundPhoto] = []
  /// Photos whose inbox or conversation is lost, because its name was too long.
  private(set) var unreadable = 0
  /// Paths of copies below the spool.
  private(set) var copies: [String] = []

  private static let most = 1 << 30

  /// - Parameters:
  ///   - unsent: photos that will be prepared again.
  ///   - receipts: the receipts of sent photos.
  init(in spool: Spool, except unsent: Set<MessageID>, receipts: [MessageID: Receipt.Message]) throws {
    var known = Set<String>()
    for inboxName in try spool.photos.directoryNames() {
      let inboxDirectory = try spool.photos.directory(inboxName)
      for conversationName in try inboxDirectory.directoryNames() {
        let conversationDirectory = try inboxDirectory.directory(conversationName)
        for message in try conversationDirectory.directoryNames()
        where !unsent.contains(MessageID(unchecked: message)) {
          let directory = try conversationDirectory.directory(message)
          let (isReceived, note) = try ReceivedNote.find(in: directory)
          guard let inbox = note.map({ InboxID(unchecked: $0.inbox) }) ?? InboxID(fileName: inboxName),
            let conversation = note.map({ ConversationID(unchecked: $0.conversation) })
              ?? ConversationID(fileName: conversationName)
          else {
            unreadable += 1
            continue
          }
          // Only a valid photo makes another one a copy.
          if known.contains(message) {
            copies.append("photos/\(inboxName)/\(conversationName)/\(message)")
            continue
          }
          let place = PhotoPlace(inbox: inbox, conversation: conversation, message: MessageID(unchecked: message))
          if let row = try Self.photo(at: place, in: directory, receipts: receipts) {
            known.insert(message)
            let reception = isReceived ? Self.reception(of: row, note) : nil
            all.append(FoundPhoto(row, in: conversation, reception: reception))
          }
        }
      }
    }
    all.sort { $0.row.createdAt < $1.row.createdAt }
  }

  private static func photo(
    at place: PhotoPlace, in directory: Directory, receipts: [MessageID: Receipt.Message]
  ) throws -> PhotoRow? {
    var bytes = 0
    var digest = ""
    if try directory.entry(PhotoCache.originalName)?.kind == .file {
      var hasher = SHA256Hasher()
      bytes = try directory.file(PhotoCache.originalName).read(limit: most) { hasher.update($0) }
      digest = hasher.finish().hex
    }
    var thumbnailBytes = 0
    for name in PhotoCache.thumbnailNames { thumbnailBytes += try directory.entry(name)?.size ?? 0 }
    guard bytes + thumbnailBytes > 0 else { return nil }
    let receipt = receipts[place.message]
    var row = PhotoRow(
      format: "", originalBytes: 0, originalWidth: 0, originalHeight: 0, bytes: bytes, width: receipt?.width ?? 0,
      height: receipt?.height ?? 0, digest: digest,
      path: place.path, thumbnailBytes: thumbnailBytes)
    row.message = place.message
    row.inbox = place.inbox
    row.url = receipt?.url
    row.createdAt = Timestamp(milliseconds: try directory.entry().modified / 1_000_000)
    return row
  }

  /// A note that is unreadable, or of another photo, still shows that the photo was received and must be hidden.
  private static func reception(of photo: PhotoRow, _ note: ReceivedNote?) -> ReceivedRow {
    var row = ReceivedRow()
    row.remote = photo.message.text
    row.receivedAt = photo.createdAt
    guard let note,
      photo.message
        == NewReceived.message(inbox: InboxID(unchecked: note.inbox), remote: note.remote, position: note.position)
    else { return row }
    row.remote = note.remote
    row.position = note.position
    row.sender = note.sender.map(SenderID.init(unchecked:))
    row.digest = note.digest
    row.receivedAt = Timestamp(note.receivedAt) ?? photo.createdAt
    return row
  }
}

extension Directory {
  /// The sorted names of the directories in this one.
  func directoryNames() throws -> [String] {
    try names().filter { try entry($0)?.kind == .directory }
  }
}
