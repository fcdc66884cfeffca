import DurableFiles
import Foundation
import Messages

/// The file `received.json` beside a received photo in the cache: its sender and origin, for a rebuilt ledger. A photo
/// with this file is hidden until it is revealed. It contains no key.
package struct ReceivedNote: Codable, Sendable, Equatable {
  package static let fileName = "received.json"
  /// The size limit: four names of 255 bytes, each byte escaped as six.
  private static let longest = 1 << 13

  package let inbox: String
  package let conversation: String
  /// The message's id on its network.
  package let remote: String
  /// The photo's place in its message, from 0.
  package let position: Int
  package let sender: String?
  /// SHA-256 of the attachment as dropped, in hexadecimal.
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

  func bytes() throws -> [UInt8] {
    try json(self) + [UInt8(ascii: "\n")]
  }

  /// Reads the note in a photo's directory. Without one, the photo was sent from here; `note` is nil if it is unreadable.
  ///
  /// - Throws: `FileError` if the disk fails.
  package static func find(in directory: Directory) throws -> (isThere: Bool, note: ReceivedNote?) {
    guard let entry = try directory.entry(fileName) else { return (false, nil) }
    guard entry.kind == .file, let bytes = try directory.file(fileName).contents(limit: longest),
      let note = try? JSONDecoder().decode(ReceivedNote.self, from: Data(bytes)), note.position >= 0,
      (try? InboxID(note.inbox)) != nil, (try? ConversationID(note.conversation)) != nil,
      (try? RemoteMessageID(note.remote)) != nil, note.sender.map({ (try? SenderID($0)) != nil }) ?? true
    else { return (true, nil) }
    return (true, note)
  }
}
