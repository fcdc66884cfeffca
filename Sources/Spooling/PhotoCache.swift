import Digests
import DurableFiles
import Messages

/// The photo cache `photos/INBOX/CONVERSATION/MESSAGE/`, for sent and received photos.
package struct PhotoCache: Sendable {
  private let root: Directory

  package static let originalName = "original.jpg"
  private static let blurredName = "blurred.jpg"
  package static let thumbnailNames = ["thumbnail.jpg", blurredName]
  private static let names = [originalName] + thumbnailNames

  package init(_ spool: Spool) { root = spool.photos }

  /// The directory of a message, relative to the spool.
  package static func path(inbox: InboxID, conversation: ConversationID, message: MessageID) -> String {
    "photos/\(inbox.fileName)/\(conversation.fileName)/\(message)"
  }

  /// Writes the photo, its thumbnail and its blurred preview durably. Files of an earlier attempt are replaced.
  ///
  /// Order: the note, then each file under a temporary name, synced, renamed; then the message's directory is synced.
  /// The directories above are synced when they are made. The janitor removes empty ones; one that it removes at this
  /// moment is made again.
  ///
  /// - Parameter note: for a received photo.
  package func keep(
    original: [UInt8], thumbnail: [UInt8], blurred: [UInt8], inbox: InboxID, conversation: ConversationID,
    message: MessageID, note: ReceivedNote? = nil
  ) throws {
    let directory = try directory(inbox, conversation, message)
    if let note { try directory.write(note.bytes(), as: ReceivedNote.fileName) }
    try directory.write(original, as: Self.originalName)
    for (name, bytes) in zip(Self.thumbnailNames, [thumbnail, blurred]) { try directory.write(bytes, as: name) }
    try directory.sync()
  }

  private func directory(
    _ inbox: InboxID, _ conversation: ConversationID, _ message: MessageID, attempts: Int = 8
  ) throws -> Directory {
    do {
      return try root.directory(creating: inbox.fileName)
        .directory(creating: conversation.fileName)
        .directory(creating: message.text)
    } catch {
      guard error.isMissing && attempts > 1 else { throw error }
      return try directory(inbox, conversation, message, attempts: attempts - 1)
    }
  }

  private func existing(
    _ inbox: InboxID, _ conversation: ConversationID, _ message: MessageID
  ) throws(FileError) -> Directory? {
    do { return try root.directory(inbox.fileName).directory(conversation.fileName).directory(message.text) } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// Whether all files of the photo are there, with the note of a received one.
  package func isWhole(
    inbox: InboxID, conversation: ConversationID, message: MessageID, hasNote: Bool
  ) throws -> Bool {
    guard let directory = try existing(inbox, conversation, message) else { return false }
    let names = Self.names + (hasNote ? [ReceivedNote.fileName] : [])
    return try names.allSatisfy { try directory.entry($0)?.kind == .file }
  }

  /// The path of a photo's original or blurred preview, relative to the spool; nil if it is not there.
  package func path(
    inbox: InboxID, conversation: ConversationID, message: MessageID, isBlurred: Bool
  ) throws -> String? {
    let name = isBlurred ? Self.blurredName : Self.originalName
    guard try existing(inbox, conversation, message)?.entry(name)?.kind == .file else { return nil }
    return "\(Self.path(inbox: inbox, conversation: conversation, message: message))/\(name)"
  }

  package func original(inbox: InboxID, conversation: ConversationID, message: MessageID) throws -> File {
    try root.directory(inbox.fileName).directory(conversation.fileName).directory(message.text).file(
      Self.originalName)
  }

  /// Removes the files of a message, if any.
  package func discard(inbox: InboxID, conversation: ConversationID, message: MessageID) throws {
    do {
      try root.directory(inbox.fileName).directory(conversation.fileName).removeTree(message.text)
    } catch let error as FileError where error.isMissing {}
  }
}
