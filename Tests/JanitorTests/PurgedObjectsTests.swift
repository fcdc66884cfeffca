import Digests
import GRDB
import Messages
import Spooling
import TestSupport
import Testing

@testable import Janitor
@testable import Ledgers

@Suite struct PurgedObjectsTests {
  private let marked = ConversationID(unchecked: "MARKER")

  /// Publishes as the `local` network, into a new or an existing file.
  private func publish(
    _ spool: SpoolUnderJanitor, _ message: String, object: [UInt8], isSealed: Bool = true
  ) throws -> String {
    let digest = SHA256Digest(of: object).hex
    if try spool.spool.objects.entry(digest) == nil { try spool.spool.objects.write(object, as: digest) }
    let secret = isSealed ? #""secret":"s","# : ""
    let line = """
      {"message":"\(message)","request":"r","conversation":"MARKER","inbox":"me","kind":"photo","attachment":{"url":"file:///x",\
      "contentDigest":"\(digest)",\(secret)"scheme":"https://","contentLength":1,"filename":"photo.jpg","mimeType":"image/jpeg",\
      "width":1,"height":1},"publishedAt":"2026-01-01T00:00:00Z"}

      """
    try spool.spool.published.file(appendingTo: "MARKER.jsonl").write(Array(line.utf8))
    return digest
  }

  private func purge(_ spool: SpoolUnderJanitor) -> PurgeRun {
    PurgeRun(
      spool: spool.spool, ledger: spool.ledger,
      objects: { [objects = spool.spool.objects.path] in try ObjectDirectories(["store": objects]) })
  }

  private func upload(_ spool: SpoolUnderJanitor, _ message: String, _ object: String, _ state: String) async throws {
    try await spool.ledger.write {
      try $0.execute(
        sql: "INSERT INTO uploads (message, store, object, state, started_at) VALUES (?, 'store', ?, ?, 1)",
        arguments: [message, object, state])
    }
  }

  @Test func purgeDeletesObjectsNamedInThePublishedFile() async throws {
    let spool = try SpoolUnderJanitor()
    let known = try publish(spool, "known", object: [1])
    _ = try publish(spool, "forgotten", object: [2])
    let other = SHA256Digest(of: [3]).hex
    try spool.spool.objects.write([3], as: other)
    try await upload(spool, "known", known, "published")
    // Foreign lines are ignored.
    try spool.spool.published.file(appendingTo: "MARKER.jsonl").write(
      Array(#"{"message":"x","attachment":{"contentDigest":"../../state/ledger.sqlite"}}"#.utf8) + [10])
    _ = try await purge(spool).run([marked])
    #expect(try spool.spool.objects.names() == [other])
    #expect(try spool.spool.published.names() == [])
    #expect(try await spool.ledger.count("uploads") == 0)
  }

  @Test func unsealedObjectGoesWithItsLastMessage() async throws {
    let spool = try SpoolUnderJanitor()
    let shared = try publish(spool, "mine", object: [1], isSealed: false)
    _ = try publish(spool, "unknown", object: [2], isSealed: false)
    try await upload(spool, "mine", shared, "published")
    try await upload(spool, "theirs", shared, "published")
    _ = try await purge(spool).run([marked])
    #expect(try spool.spool.objects.names().count == 2)
    _ = try publish(spool, "theirs", object: [1], isSealed: false)
    _ = try await purge(spool).run([marked])
    #expect(try spool.spool.objects.names() == [SHA256Digest(of: [2]).hex], "nobody knows who else has it")
  }

  @Test func rebuiltLedgerKeepsUnsealedObjects() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.ledger.noteRebuilt()
    let plain = try publish(spool, "plain", object: [1], isSealed: false)
    _ = try publish(spool, "sealed", object: [2])
    try await upload(spool, "plain", plain, "published")
    _ = try await purge(spool).run([marked])
    #expect(try spool.spool.objects.names() == [plain])
  }

  @Test func daemonDeletesObjectsOfOtherStoresAndStubbornOnes() async throws {
    let spool = try SpoolUnderJanitor()
    let name = try publish(spool, "sealed", object: [1])
    try spool.spool.objects.remove(name)
    _ = try spool.spool.objects.make(name)
    try await spool.ledger.write {
      try $0.execute(
        sql: "INSERT INTO uploads (message, store, object, state, started_at) VALUES ('m', 's3', 'o', 'abandoned', 1)")
    }
    _ = try await purge(spool).run([marked])
    #expect(try await spool.ledger.claimAbandonedUploads(limit: 9).map(\.object) == ["o", name])
  }
}
