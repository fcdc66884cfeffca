import Digests
import DurableFiles
import Messages

/// The photo cache `photos/INBOX/CONVERSATION/MESSAGE/`: what was sent, and what was received.
public struct PhotoCache: Sendable {
  private let root: Directory
  private static let names = ["original.jpg", "thumbnail.jpg", "blurred.jpg"]

  public init(_ spool: Spool) { root = spool.photos }

  /// Where a message's files lie, relative to the spool.
  public static func path(inbox: InboxID, conversation: ConversationID, message: MessageID) -> String {
    "photos/\(inbox.fileName)/\(conversation.fileName)/\(message)"
  }

  /// Writes the photo, its thumbnail and its blurred preview. When it returns they are whole and on the disk; files of
  /// an earlier attempt are replaced.
  ///
  /// Order: the note, then each file under a temporary name, synced, renamed; then the message's directory is synced. The directories
  /// above it are synced when they are made.
  ///
  /// - Parameter note: of a photo that somebody else sent.
  ///
  /// The janitor removes directories above that are empty; one that it removes at this moment is made again.
  public func keep(
    original: [UInt8], thumbnail: [UInt8], blurred: [UInt8], inbox: InboxID, conversation: ConversationID,
    message: MessageID, note: ReceivedNote? = nil
  ) throws {
    let directory = try directory(inbox, conversation, message)
    if let note { try directory.write(note.bytes(), as: ReceivedNote.fileName) }
    try directory.write(original, as: "original.jpg")
    try directory.write(thumbnail, as: "thumbnail.jpg")
    try directory.write(blurred, as: "blurred.jpg")
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
  public func isWhole(
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
  public func path(
    inbox: InboxID, conversation: ConversationID, message: MessageID, isBlurred: Bool
  ) throws -> String? {
    let name = isBlurred ? "blurred.jpg" : "original.jpg"
    do {
      let directory = try root.directory(inbox.fileName).directory(conversation.fileName).directory(message.text)
      guard try directory.entry(name)?.kind == .file else { return nil }
      return "\(Self.path(inbox: inbox, conversation: conversation, message: message))/\(name)"
    } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// Opens a photo's original.
  public func original(inbox: InboxID, conversation: ConversationID, message: MessageID) throws -> File {
    try root.directory(inbox.fileName).directory(conversation.fileName).directory(message.text).file("original.jpg")
  }

  /// Removes what is kept of a message; nothing kept is as good.
  public func discard(inbox: InboxID, conversation: ConversationID, message: MessageID) throws {
    do {
      try root.directory(inbox.fileName).directory(conversation.fileName).removeTree(message.text)
    } catch let error as FileError where error.isMissing {}
  }
}
