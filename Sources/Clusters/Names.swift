import Digests
import Messages

/// A host of a cluster: 32 lower-case hexadecimal characters, drawn once for its spool.
package struct HostID: Hashable, Sendable, Codable, CustomStringConvertible {
  package let text: String

  /// nil for anything else.
  package init?(_ text: String) {
    guard isHex32(text) else { return nil }
    self.text = text
  }

  package init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let host = HostID(text) else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no host id"))
    }
    self = host
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  package var description: String { text }
}

/// The id of a record: 32 lower-case hexadecimal characters. The same acceptance of the same request has the same one.
package struct RecordID: Hashable, Sendable, Codable, CustomStringConvertible {
  package let text: String

  /// nil for anything else.
  package init?(_ text: String) {
    guard isHex32(text) else { return nil }
    self.text = text
  }

  package init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let id = RecordID(text) else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no record id"))
    }
    self = id
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  /// - Parameter acceptedAt: another one if a failed request returns, which is then another record.
  package init(host: HostID, request: String, acceptedAt: Timestamp) {
    let digest = SHA256Digest(of: Array("\(host.text) \(acceptedAt.milliseconds) \(request)".utf8))
    text = String(digest.hex.prefix(32))
  }

  package var description: String { text }
}

/// One of the parts that the conversations are spread over. A conversation is always in the same one.
package struct Partition: Hashable, Comparable, Sendable, CustomStringConvertible {
  package static let count = 64
  /// How long the queue knows the id of a finished record, in seconds. An append that has not arrived by then never does.
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

private func isHex32(_ text: String) -> Bool {
  text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
}
