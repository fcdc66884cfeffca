import Digests
import DurableFiles
import Messages

/// A request that was found good: what is in its directory, checked and measured.
package struct Request: Sendable {
  package let addressee: Addressee
  /// Nil when the client left the inbox to the configuration.
  package let inbox: InboxID?
  package let key: IdempotencyKey?
  /// The photos in name order, then the text: one message each. To remove a profile photo is one message, too.
  package let parts: [RequestPart]
  /// Identifies the contents: a second request of the same key and digest is the same request again.
  package let digest: SHA256Digest

  /// Where its messages have their place, when `inbox` is that of requests which name none.
  package func conversation(defaultInbox: InboxID) -> ConversationID {
    addressee.conversation(of: inbox ?? defaultInbox)
  }

  /// Bytes of all parts.
  package var bytes: Int { parts.reduce(0) { $0 + $1.bytes } }
}

/// One file of a request that becomes one message.
package struct RequestPart: Sendable, Hashable {
  package let kind: MessageKind
  package let file: String
  package let bytes: Int
  /// Of the file as dropped. What is read later must still have it.
  package let digest: SHA256Digest
}

/// Which directory a request is, wherever it is moved: the inode and its time of birth.
package struct RequestIdentity: Hashable, Sendable {
  package let inode: UInt64
  /// Nanoseconds since 1970; 0 where the filesystem keeps no time of birth.
  package let born: Int64

  package init(inode: UInt64, born: Int64) {
    self.inode = inode
    self.born = born
  }

  package init(_ entry: Entry) { self.init(inode: entry.inode, born: entry.born) }

  /// The stable id of the message that `file` becomes. It is made from nothing but the directory itself, so that a ledger
  /// rebuilt from the spool gives every message the id it had. It begins with the time of birth in milliseconds, as in RFC
  /// 9562's UUIDv7: ids that grow are written at the end of the ledger's indexes, and not all over them.
  package func message(_ file: String, of request: String) -> MessageID {
    let source = "photospool message\n\(request)\n\(inode)\n\(born)\n\(file)\n"
    let time = withUnsafeBytes(of: UInt64(clamping: born / 1_000_000).bigEndian) { Array($0.suffix(6)) }
    return MessageID(unchecked: (time + SHA256Digest(of: Array(source.utf8)).bytes.prefix(10)).hex)
  }
}
