import DurableFiles
import Foundation
import Messages

/// What lies beside a received photo in the cache, as `received.json`: whose it is and where it came from, for a ledger
/// that is made anew. A photo that has one is another's, and is hidden until somebody reveals it. No key is in it.
package struct ReceivedNote: Codable, Sendable, Equatable {
  package static let fileName = "received.json"
  /// Bytes of the longest one: four names of 255 bytes, each of which may be written as six.
  private static let longest = 1 << 13

  package let inbox: String
  package let conversation: String
  /// The message's id on its network.
  package let remote: String
  /// The photo's place in its message; 0 is the first.
  package let position: Int
  package let sender: String?
  /// SHA-256 of the attachment as it was dropped, in hexadecimal.
  package let digest: String
  package let receivedAt: String

  package init(
    inbox: InboxID, conversation: ConversationID, remote: String, position: Int, sender: SenderID?, digest: String,
    receivedAt: Timestamp
  ) {
    self.inbox = inbox.text
    self.conversation = conversation.text
    self.remote = remote
    self.position = position
    self.sender = sender?.text
    self.digest = digest
    self.receivedAt = receivedAt.description
  }

  /// One line of JSON.
  func bytes() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try [UInt8](encoder.encode(self)) + [UInt8(ascii: "\n")]
  }

  /// What is found beside a photo.
  package enum Found: Sendable, Equatable {
    /// It was sent from here.
    case none
    case note(ReceivedNote)
    /// It is another's, and nobody can read any more whose.
    case unreadable
  }

  /// Looks into the directory of a photo.
  ///
  /// - Throws: `FileError` when the disk fails.
  package static func find(in directory: Directory) throws -> Found {
    guard let entry = try directory.entry(fileName) else { return .none }
    guard entry.kind == .file, let bytes = try directory.file(fileName).contents(limit: longest),
      let note = try? JSONDecoder().decode(ReceivedNote.self, from: Data(bytes)), note.position >= 0,
      (try? InboxID(note.inbox)) != nil, (try? ConversationID(note.conversation)) != nil,
      (try? RemoteMessageID(note.remote)) != nil, note.sender.map({ (try? SenderID($0)) != nil }) ?? true
    else { return .unreadable }
    return .note(note)
  }
}
