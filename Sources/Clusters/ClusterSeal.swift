import FoundationEssentials
import Messages
import Seals

/// Seals and opens what is passed to the queue. Everything is sealed under its kind and its name, so that bytes of one
/// place are worth nothing at another.
package struct ClusterSeal: Sendable {
  private let seal: NamedSeal

  package init(secret: [UInt8]) { seal = NamedSeal(secret: secret) }

  package func record(_ contents: RecordContents, as id: RecordID) throws -> [UInt8] {
    try seal.seal(json(contents), as: "record \(id)")
  }

  /// - Throws: `SealedError` for anything that is not this record.
  package func contents(of record: StoredRecord) throws(SealedError) -> RecordContents {
    let contents: RecordContents = try open(record.record, as: "record \(record.id)")
    guard contents.isSound(as: record.id) else { throw .damaged("record \(record.id)") }
    return contents
  }

  package func fact(_ ends: [RequestEnd], of id: RecordID) throws -> [UInt8] {
    try seal.seal(json(ends), as: "fact \(id)")
  }

  /// - Throws: `SealedError` for anything that is not a fact of this request or record.
  package func ends(_ fact: [UInt8], of id: RecordID) throws(SealedError) -> [RequestEnd] {
    let ends: [RequestEnd] = try open(fact, as: "fact \(id)")
    guard ends.count <= RelayedRequest.mostInRecord, ends.allSatisfy(\.isSound) else { throw .damaged("fact \(id)") }
    return ends
  }

  package func blob(_ bytes: [UInt8], as name: BlobName) throws -> [UInt8] {
    try seal.seal(bytes, as: "bytes \(name)")
  }

  /// - Throws: `SealedError` for anything that is not the bytes of that name.
  package func bytes(_ blob: [UInt8], as name: BlobName) throws(SealedError) -> [UInt8] {
    try opened(blob, as: "bytes \(name)")
  }

  private func open<Value: Decodable>(_ object: [UInt8], as name: String) throws(SealedError) -> Value {
    let plain = try opened(object, as: name)
    do { return try JSONDecoder().decode(Value.self, from: Data(plain)) } catch { throw .damaged(name) }
  }

  private func opened(_ object: [UInt8], as name: String) throws(SealedError) -> [UInt8] {
    do { return try seal.open(object, as: name) } catch {
      if case .unavailable(let sentence) = error { throw .newer("\(name) cannot be read: \(sentence)") }
      throw .damaged(name)
    }
  }
}

/// Why bytes of the queue cannot be used.
package enum SealedError: Error, Equatable, CustomStringConvertible {
  /// A later version made them.
  case newer(String)
  /// They are damaged, or were sealed under another secret.
  case damaged(String)

  package var description: String {
    switch self {
    case .newer(let sentence): sentence
    case .damaged(let name):
      "\(name) of the cluster cannot be opened; give all hosts the same `cluster.secret`, or remove what is not theirs"
    }
  }
}

extension RecordContents {
  fileprivate func isSound(as id: RecordID) -> Bool {
    switch self {
    case .requests(let requests):
      !requests.isEmpty && requests.count <= RelayedRequest.mostInRecord && RecordID(of: requests.map(\.id)) == id
        && requests.allSatisfy { $0.isSound && $0.conversation == requests[0].conversation }
        && (requests.count == 1 || requests.allSatisfy(\.isText)) && Set(requests.map(\.id)).count == requests.count
    case .cancel(let request, _): !request.contains("@")
    case .hold(let conversation), .release(let conversation): (try? ConversationID(conversation)) != nil
    case .flush: true
    }
  }
}

extension RelayedRequest {
  fileprivate var isText: Bool { messages.allSatisfy { $0.kind == .text } }

  /// Whether all hosts can store it: the queue may hold anything that somebody with the secret wrote.
  fileprivate var isSound: Bool {
    let positions = messages.map(\.position)
    return !messages.isEmpty && messages.count <= 64 && zip(positions, positions.dropFirst()).allSatisfy(<)
      && Set(messages.map(\.message)).count == messages.count
      && (try? ConversationID(conversation)) != nil && (try? InboxID(inbox)) != nil && !request.contains("@")
      && messages.allSatisfy { message in
        RecordID(message.message) != nil && message.position >= 0 && message.position < 64 && message.bytes >= 0
          && message.bytes <= 1 << 30 && (message.kind == .text) == (message.text != nil)
      }
  }
}

extension RequestEnd {
  /// Whether an origin can take it over.
  fileprivate var isSound: Bool {
    let isEnd: Bool =
      switch state {
      case .sent, .failed, .cancelled: true
      case .queued, .duplicate, .draft, .abandoned: false
      }
    return isEnd && !messages.isEmpty && messages.allSatisfy { $0.state.isFinal && $0.attempts >= 0 }
      && (state != .sent || messages.allSatisfy { $0.state == .sent })
      && (state != .failed || error != nil && cause != nil)
  }
}
