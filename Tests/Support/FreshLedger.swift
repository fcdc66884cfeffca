import DurableFiles
import Ledgers
import Messages

/// A new ledger for one test, in a directory of its own.
package struct FreshLedger: Sendable {
  package let scratch: TemporaryDirectory
  package let state: Directory
  package let ledger: Ledger

  package init() throws {
    scratch = try TemporaryDirectory()
    state = try Directory(path: scratch.path)
    ledger = try Ledger(in: state)
  }
}

/// A suite with a new ledger for each test; its memberwise initialiser is all that it needs.
package protocol LedgerSuite {
  init(fresh: FreshLedger)
  var fresh: FreshLedger { get }
}

extension LedgerSuite {
  package init() throws { self.init(fresh: try FreshLedger()) }

  package var scratch: TemporaryDirectory { fresh.scratch }
  package var state: Directory { fresh.state }
  package var ledger: Ledger { fresh.ledger }
  package var now: Timestamp { Timestamp(milliseconds: 1_800_000_000_000) }

  @discardableResult
  package func accept(_ requests: NewRequest...) async throws -> [Acceptance] {
    try await ledger.acceptRenaming(requests, at: now)
  }

  /// Begins a message and marks it as sent.
  @discardableResult
  package func send(_ message: QueuedMessage) async throws -> RequestState? {
    _ = try await ledger.beginPublishing(message, at: now)
    return try await ledger.markSent(message, Published(at: now), at: now)
  }

  /// The waiting messages of a conversation.
  package func head(_ conversation: Int64 = 1) async throws -> [QueuedMessage] {
    try await ledger.head(of: conversation, limit: 100)
  }
}

extension NewRequest {
  /// A request of photos, and a text in the file `text`.
  package init(
    _ name: String, inode: UInt64, born: Int64 = 1, to conversation: String = "family", from inbox: String = "me",
    key: String? = nil, digest: String = "d", owner: Int64? = nil, parts: [Part]
  ) {
    self.init(
      droppedAs: name, inode: inode, born: born, inbox: InboxID(unchecked: inbox), owner: owner,
      contents: .success(
        Contents(conversation: ConversationID(unchecked: conversation), key: key, digest: digest, parts: parts)))
  }

  package init(
    _ name: String, inode: UInt64, to conversation: String = "family", key: String? = nil, digest: String = "d",
    files: [String] = ["text"]
  ) {
    self.init(name, inode: inode, to: conversation, key: key, digest: digest, parts: files.map { Part($0) })
  }
}

extension NewRequest.Part {
  /// The file of a message `REQUEST/FILE`, or of one with this id.
  package init(
    _ file: String, _ kind: MessageKind? = nil, message: MessageID? = nil, bytes: Int = 5, digest: String = "f"
  ) {
    self.init(
      message: { message ?? MessageID(unchecked: "\($0)/\(file)") }, kind: kind ?? (file == "text" ? .text : .photo),
      file: file, bytes: bytes, digest: digest)
  }
}

extension PhotoRow {
  package static func prepared(
    originalBytes: Int = 9, bytes: Int = 5, path: String = "p", thumbnailBytes: Int = 1
  ) -> PhotoRow {
    PhotoRow(
      format: "jpeg", originalBytes: originalBytes, originalWidth: 3, originalHeight: 2, bytes: bytes, width: 3,
      height: 2, digest: "x", path: path, thumbnailBytes: thumbnailBytes)
  }
}

extension Attachment {
  /// A stored photo of 9 bytes and 3x4 pixels.
  package init(_ url: String, contentDigest: String = "d", isSealed: Bool = false) {
    let (secret, salt, nonce) = isSealed ? ("s", "t", "n") : (nil, nil, nil)
    self.init(
      url: url, contentDigest: contentDigest, secret: secret, salt: salt, nonce: nonce, scheme: "https://",
      contentLength: 9, filename: "photo.jpg", mimeType: "image/jpeg", width: 3, height: 4)
  }
}
