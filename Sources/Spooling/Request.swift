import Digests
import DurableFiles
import Messages

/// A valid request, checked and measured.
package struct Request: Sendable {
  package let addressee: Addressee
  /// nil means the configured inbox.
  package let inbox: InboxID?
  package let key: IdempotencyKey?
  /// The photos in name order, then the text: one message each. Removing a profile photo is one message, too.
  package let parts: [RequestPart]
  /// Identifies the contents: a request with the same key and digest is a duplicate.
  package let digest: SHA256Digest

  /// The conversation of its messages. `defaultInbox` applies to requests without an inbox.
  package func conversation(defaultInbox: InboxID) -> ConversationID {
    addressee.conversation(of: inbox ?? defaultInbox)
  }

  package var bytes: Int { parts.reduce(0) { $0 + $1.bytes } }
}

/// A file of a request that becomes a message.
package struct RequestPart: Sendable, Hashable {
  package let kind: MessageKind
  package let file: String
  package let bytes: Int
  /// The digest of the dropped file, which later reads must match.
  package let digest: SHA256Digest
}

/// Identifies a request's directory wherever it is moved: inode and time of birth.
package struct RequestIdentity: Hashable, Sendable {
  package let inode: UInt64
  /// Nanoseconds since 1970; 0 if the filesystem keeps no time of birth.
  package let born: Int64

  package init(inode: UInt64, born: Int64) {
    self.inode = inode
    self.born = born
  }

  package init(_ entry: Entry) { self.init(inode: entry.inode, born: entry.born) }

  /// The stable id of the message made from `file`. It depends only on the directory, so a ledger rebuilt from the
  /// spool has the same ids. It begins with the time of birth in milliseconds, as in UUIDv7 (RFC 9562): growing ids are
  /// written at the end of an index.
  package func message(_ file: String, of request: String) -> MessageID {
    let source = "photospool message\n\(request)\n\(inode)\n\(born)\n\(file)\n"
    let time = withUnsafeBytes(of: UInt64(clamping: born / 1_000_000).bigEndian) { Array($0.suffix(6)) }
    return MessageID(unchecked: (time + SHA256Digest(of: Array(source.utf8)).bytes.prefix(10)).hex)
  }
}
