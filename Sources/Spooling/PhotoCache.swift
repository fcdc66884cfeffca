import Digests
import DurableFiles
import Messages

/// The photo cache `photos/INBOX/CONVERSATION/MESSAGE/`: what was sent, and what was received.
package struct PhotoCache: Sendable {
  private let root: Directory

  /// The photo as it was sent or received.
  package static let originalName = "original.jpg"
  /// The preview that is shown while a photo is hidden.
  private static let blurredName = "blurred.jpg"
  /// What is made of the original.
  package static let thumbnailNames = ["thumbnail.jpg", blurredName]
  private static let names = [originalName] + thumbnailNames

  package init(_ spool: Spool) { root = spool.photos }

  /// Where a message's files lie, relative to the spool.
  package static func path(inbox: InboxID, conversation: ConversationID, message: MessageID) -> String {
    "photos/\(inbox.fileName)/\(conversation.fileName)/\(message)"
  }

  /// Writes the photo, its thumbnail and its blurred preview. When it returns they are whole and on the disk; files of
  /// an earlier attempt are replaced.
  ///
  /// Order: the note, then each file under a temporary name, synced, renamed; then the message's directory is synced. The
  /// directories above it are synced when they are made.
  ///
  /// - Parameter note: of a photo that somebody else sent.
  ///
  /// The janitor removes directories above that are empty; one that it removes at this moment is made again.
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

  /// Whether the photo, its thumbnail and its blurred preview are there, and the note of one that was received.
  package func isWhole(
    inbox: InboxID, conversation: ConversationID, message: MessageID, hasNote: Bool
  ) throws -> Bool {
    do {
      let directory = try root.directory(inbox.fileName).directory(conversation.fileName).directory(message.text)
      let names = Self.names + (hasNote ? [ReceivedNote.fileName] : [])
      return try names.allSatisfy { try directory.entry($0)?.kind == .file }
    } catch let error as FileError {
      if error.isMissing { return false }
      throw error
    }
  }

  /// The path below the spool of a photo's original or of its blurred preview; nil when it is not there.
  package func path(
    inbox: InboxID, conversation: ConversationID, message: MessageID, isBlurred: Bool
  ) throws -> String? {
    let name = isBlurred ? Self.blurredName : Self.originalName
    do {
      let directory = try root.directory(inbox.fileName).directory(conversation.fileName).directory(message.text)
      guard try directory.entry(name)?.kind == .file else { return nil }
      return "\(Self.path(inbox: inbox, conversation: conversation, message: message))/\(name)"
    } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// Sets the time at which a photo was last read to now, by which the janitor knows that somebody viewed it.
  package func noteViewing(inbox: InboxID, conversation: ConversationID, message: MessageID) throws {
    let directory = try root.directory(inbox.fileName).directory(conversation.fileName).directory(message.text)
    for name in Self.names where try directory.entry(name)?.kind == .file { try directory.setAccessedNow(name) }
  }

  /// Opens a photo's original.
  package func original(inbox: InboxID, conversation: ConversationID, message: MessageID) throws -> File {
    try root.directory(inbox.fileName).directory(conversation.fileName).directory(message.text).file(
      Self.originalName)
  }

  /// Removes what is kept of a message; nothing kept is as good.
  package func discard(inbox: InboxID, conversation: ConversationID, message: MessageID) throws {
    do {
      try root.directory(inbox.fileName).directory(conversation.fileName).removeTree(message.text)
    } catch let error as FileError where error.isMissing {}
  }
}
