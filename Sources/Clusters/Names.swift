import Digests
import Messages

/// An id of 32 lower-case hexadecimal characters.
package protocol HexID: RawRepresentable<String>, Hashable, Sendable, Codable, CustomStringConvertible {
  var text: String { get }

  init(unchecked text: String)
}

extension HexID {
  /// nil for any other text.
  package init?(_ text: String) {
    let isHex = text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    guard isHex, text.utf8.count == 32 else { return nil }
    self.init(unchecked: text)
  }

  package init?(rawValue: String) { self.init(rawValue) }

  package var rawValue: String { text }
  package var description: String { text }
}

/// A host of a cluster. Its id is drawn once for its spool.
package struct HostID: HexID {
  package let text: String

  package init(unchecked text: String) { self.text = text }
}

/// The id of a request, or of a record. The same acceptance of the same request always has the same one. A record with one
/// request has the request's.
package struct RecordID: HexID {
  package let text: String

  package init(unchecked text: String) { self.text = text }

  /// - Parameter acceptedAt: different when a failed request returns, which is then another record.
  package init(host: HostID, request: String, acceptedAt: Timestamp) {
    let digest = SHA256Digest(of: Array("\(host.text) \(acceptedAt.milliseconds) \(request)".utf8))
    text = String(digest.hex.prefix(32))
  }

  /// The id of a record.
  ///
  /// - Parameter requests: those that it holds, in order; at least one.
  package init(of requests: [RecordID]) {
    if let only = requests.first, requests.count == 1 {
      self = only
    } else {
      text = String(SHA256Digest(of: Array(requests.map(\.text).joined(separator: " ").utf8)).hex.prefix(32))
    }
  }
}

/// One of the parts into which the conversations are divided. A conversation is always in the same one.
package struct Partition: Hashable, Comparable, Sendable, CustomStringConvertible {
  package static let count = 16
  /// How long the queue remembers the id of a record after its append, in seconds. A delayed append arrives within this time.
  package static let memory = 120.0
  package static let all = (0..<count).map(Partition.init(unchecked:))

  package let number: Int

  private init(unchecked number: Int) { self.number = number }

  /// nil if there is none of that number.
  package init?(_ number: Int) {
    guard (0..<Self.count).contains(number) else { return nil }
    self.number = number
  }

  package init(of conversation: ConversationID) {
    number = Int(SHA256Digest(of: Array(conversation.text.utf8)).bytes[0]) % Self.count
  }

  /// Two decimal digits.
  package var description: String { number < 10 ? "0\(number)" : "\(number)" }

  package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// The name of bytes: the file at `part` of a record.
package struct BlobName: Hashable, Sendable, CustomStringConvertible {
  package let record: RecordID
  /// The position of its message in the request.
  package let part: Int

  package init(record: RecordID, part: Int) {
    self.record = record
    self.part = part
  }

  package var description: String { "\(record).\(part)" }
}
