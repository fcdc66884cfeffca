import DurableFiles
import Messages

/// The bytes of an object that came so far, in `incoming/cur/MESSAGE/`: sealed, as they came from the store.
///
/// Nothing of it is synced: whoever goes on with it checks the digest of the whole, and begins anew where that is wrong.
/// The file `from-conversation` names the conversation, for whoever purges it.
package final class PartialObject: Sendable {
  private let cur: Directory
  private let name: String
  private let directory: Directory

  private static let bytesName = "object"
  private static let tagName = "validator"

  package init(_ message: MessageID, of conversation: ConversationID, in incoming: IncomingSpool) throws {
    cur = incoming.cur
    name = message.text
    directory = try cur.directory(creating: name)
    if try directory.entry("from-conversation") == nil {
      try directory.write(Array("\(conversation)\n".utf8), as: "from-conversation")
    }
  }

  /// How many bytes are there.
  package func count() throws -> Int { try directory.entry(Self.bytesName)?.size ?? 0 }

  /// What the store calls the object that the bytes are of (RFC 9110, section 8.8); nil when they cannot be gone on with.
  package func validator() throws -> String? {
    guard try directory.entry(Self.tagName) != nil else { return nil }
    return try directory.file(Self.tagName).contents(limit: 4096).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Begins anew, with an object that the store calls `validator`.
  package func begin(validator: String?) throws -> File {
    try clear()
    if let validator { try directory.write(Array(validator.utf8), as: Self.tagName) }
    return try append()
  }

  /// Forgets all bytes.
  package func clear() throws {
    try directory.remove(Self.tagName)
    try directory.remove(Self.bytesName)
  }

  /// Opens the bytes to add to them.
  package func append() throws -> File { try directory.file(appendingTo: Self.bytesName) }

  /// All bytes; nil when there are more than `limit`.
  package func contents(limit: Int) throws -> [UInt8]? {
    guard try directory.entry(Self.bytesName) != nil else { return [] }
    return try directory.file(Self.bytesName).contents(limit: limit)
  }

  /// Removes all of it.
  package func remove() throws { try cur.removeTree(name) }
}
