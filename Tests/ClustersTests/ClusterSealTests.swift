import Messages
import Seals
import Testing

@testable import Clusters

struct ClusterSealTests {
  private let seal = ClusterSeal(secret: Array("a secret of thirty-two characters".utf8))
  private let host = HostID("00000000000000000000000000000001")
  private let message = "0123456789abcdef0123456789abcdef"

  private func request(
    messages: [RelayedRequest.Message]? = nil, conversation: String = "family", name: String = "cat"
  ) throws -> RelayedRequest {
    RelayedRequest(
      host: try #require(host), request: name, conversation: conversation, inbox: "me", acceptedAt: 1,
      messages: messages ?? [part()])
  }

  private func part(position: Int = 0, bytes: Int = 2, text: String? = "hi", id: String? = nil)
    -> RelayedRequest.Message
  {
    RelayedRequest.Message(
      message: id ?? message, kind: .text, position: position, file: "text", bytes: bytes, digest: "", text: text,
      mayBePublished: false)
  }

  private func stored(_ contents: RecordContents, as id: RecordID) throws -> StoredRecord {
    StoredRecord(position: 1, id: id, record: try seal.record(contents, as: id))
  }

  @Test("a record opens as it was sealed, and under no other name or secret")
  func opens() throws {
    let request = try request()
    let record = try stored(.requests([request]), as: request.id)
    #expect(try seal.contents(of: record) == .requests([request]))
    let other = try #require(RecordID("ffffffffffffffffffffffffffffffff"))
    let moved = StoredRecord(position: 1, id: other, record: record.record)
    #expect(throws: SealedError.damaged("record \(other)")) { try seal.contents(of: moved) }
    #expect(throws: SealedError.self) {
      try ClusterSeal(secret: Array("another secret of the same length".utf8)).contents(of: record)
    }
  }

  @Test("a record of a later version is told from a damaged one")
  func tellsVersions() throws {
    let request = try request()
    var bytes = try seal.record(.requests([request]), as: request.id)
    bytes[0] = NamedSeal.version + 1
    let error = #expect(throws: SealedError.self) {
      try seal.contents(of: StoredRecord(position: 1, id: request.id, record: bytes))
    }
    #expect(error?.description.contains("upgrade photospool") == true)
  }

  @Test("a cut or changed record is refused", arguments: [0, 1, 32, 33, 48, -1])
  func refusesDamage(length: Int) throws {
    let request = try request()
    var bytes = try seal.record(.requests([request]), as: request.id)
    if length < 0 { bytes[bytes.count - 1] ^= 1 } else { bytes = Array(bytes.prefix(length)) }
    #expect(throws: SealedError.self) {
      try seal.contents(of: StoredRecord(position: 1, id: request.id, record: bytes))
    }
  }

  @Test("records with impossible contents are refused")
  func refusesHostileContents() throws {
    let hostile: [RelayedRequest] = try [
      request(messages: []), request(messages: [part(position: -1)]), request(messages: [part(position: .max)]),
      request(messages: [part(bytes: -1)]), request(messages: [part(bytes: .max)]),
      request(messages: [part(text: nil)]),
      request(messages: [part(id: "../up")]), request(messages: [part(), part(position: 1)]),
      request(messages: [part(position: 1), part(position: 0, id: String(message.reversed()))]),
      request(conversation: ""), request(conversation: "a\nb"), request(name: "a@b"),
    ]
    for request in hostile {
      #expect(throws: SealedError.self) { try seal.contents(of: stored(.requests([request]), as: request.id)) }
    }
  }

  @Test("a record with several texts of one conversation opens under the id of all, in their order")
  func opensSeveral() throws {
    let texts = try [request(name: "a"), request(name: "b"), request(name: "c")]
    let id = RecordID(of: texts.map(\.id))
    #expect(!texts.map(\.id).contains(id))
    #expect(try seal.contents(of: stored(.requests(texts), as: id)) == .requests(texts))
    let photo = RelayedRequest.Message(
      message: message, kind: .photo, position: 0, file: "photo", bytes: 2, digest: "", text: nil, mayBePublished: false
    )
    let hostile: [[RelayedRequest]] = try [
      [], texts.reversed(), Array(texts.dropLast()), texts + [request(name: "d")],
    ]
    for requests in hostile {
      #expect(throws: SealedError.self) { try seal.contents(of: stored(.requests(requests), as: id)) }
    }
    let impossible: [[RelayedRequest]] = try [
      [texts[0], texts[0]], [texts[0], request(conversation: "work")], [texts[0], request(messages: [photo])],
      (0...RelayedRequest.mostInRecord).map { try request(name: "\($0)") },
    ]
    for requests in impossible {
      let id = RecordID(of: requests.map(\.id))
      #expect(throws: SealedError.self) { try seal.contents(of: stored(.requests(requests), as: id)) }
    }
  }

  @Test("what is no end of a request is no fact")
  func refusesEmptyFacts() throws {
    let id = try #require(RecordID("00000000000000000000000000000002"))
    let plain = NamedSeal(secret: Array("a secret of thirty-two characters".utf8))
    for text in ["{}", "[{}]", "null", #"[{"state":"queued"}]"#] {
      let fact = try plain.seal(Array(text.utf8), as: "fact \(id)")
      #expect(throws: SealedError.self) { try seal.ends(fact, of: id) }
    }
    let failed = RequestEnd(
      id: id, request: "cat", state: .failed, cause: nil, error: nil, finishedAt: 1,
      messages: [
        .init(
          message: message, state: .failed, cause: nil, error: nil, attempts: 1, sentAt: nil, remote: nil, photo: nil)
      ])
    #expect(throws: SealedError.self) { try seal.ends(seal.fact([failed], of: id), of: id) }
  }
}
