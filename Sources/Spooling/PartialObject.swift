import DurableFiles
import Messages

/// The bytes downloaded so far of an object, in `incoming/cur/MESSAGE/`, encrypted as in the store. They are not
/// synced: a resumed download checks the digest of the whole and restarts if it is wrong. The file `from-conversation`
/// names the conversation, for a purge.
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

  package func count() throws -> Int { try directory.entry(Self.bytesName)?.size ?? 0 }

  /// The store's validator of the object (RFC 9110, section 8.8); nil if the download cannot be resumed.
  package func validator() throws -> String? {
    guard try directory.entry(Self.tagName) != nil else { return nil }
    return try directory.file(Self.tagName).contents(limit: 4096).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Starts again with an object whose validator is `validator`.
  package func begin(validator: String?) throws -> File {
    try clear()
    if let validator { try directory.write(Array(validator.utf8), as: Self.tagName) }
    return try append()
  }

  package func clear() throws {
    try directory.remove(Self.tagName)
    try directory.remove(Self.bytesName)
  }

  package func append() throws -> File { try directory.file(appendingTo: Self.bytesName) }

  /// All bytes; nil if there are more than `limit`.
  package func contents(limit: Int) throws -> [UInt8]? {
    guard try directory.entry(Self.bytesName) != nil else { return [] }
    return try directory.file(Self.bytesName).contents(limit: limit)
  }

  package func remove() throws { try cur.removeTree(name) }
}
