import Blocking
import Digests
import Foundation
import Messages
import Stores
import Synchronization
import TestSupport
import Testing

@Suite struct DirectoryStoreTests {
  private let scratch: TemporaryDirectory
  private let store: DirectoryStore
  private let bytes = [UInt8](repeating: 42, count: 1_000_000)
  private var object: ObjectName { ObjectName(SHA256Digest(of: bytes)) }

  init() throws {
    scratch = try TemporaryDirectory()
    store = try DirectoryStore(
      directory: scratch.path("objects dir"), baseURL: nil, pool: BlockingPool(label: "test", threads: 2))
  }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.path("objects dir"))
  }

  @Test func anObjectIsKeptUnderItsDigestAndFoundAtItsURL() async throws {
    let url = try await store.put(object, bytes, contentType: "x/y") { _ in }
    #expect(try files() == [object.text])
    #expect(url.hasPrefix("file:///") && url.contains("objects%20dir"))
    let target = try #require(URL(string: url))
    #expect(try Data(contentsOf: target) == Data(bytes))
  }

  @Test func puttingTwiceSucceedsAndChangesNothing() async throws {
    let first = try await store.put(object, bytes, contentType: "x/y") { _ in }
    let second = try await store.put(object, [1, 2, 3], contentType: "x/y") { _ in }
    #expect(first == second)
    #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("objects dir/\(object)"))) == Data(bytes))
  }

  @Test func progressGoesFromZeroToOneAndNeverBack() async throws {
    let seen = Mutex<[Double]>([])
    _ = try await store.put(object, bytes, contentType: "x/y") { fraction in seen.withLock { $0.append(fraction) } }
    let fractions = seen.withLock { $0 }
    #expect(fractions.first == 0 && fractions.last == 1 && fractions == fractions.sorted() && fractions.count > 3)
  }

  @Test func deletingTwiceIsAsGoodAsOnce() async throws {
    _ = try await store.put(object, bytes, contentType: "x/y") { _ in }
    try await store.delete(object)
    try await store.delete(object)
    #expect(try files().isEmpty)
  }

  @Test func aCancelledUploadLeavesNothing() async throws {
    let (store, object, bytes) = (store, object, bytes)
    let box = Mutex<Task<String, any Error>?>(nil)
    let started = AsyncStream<Void>.makeStream()
    let task = Task {
      for await _ in started.stream { break }
      return try await store.put(object, bytes, contentType: "x/y") { _ in box.withLock { $0?.cancel() } }
    }
    box.withLock { $0 = task }
    started.continuation.yield()
    let result = await task.result
    #expect(throws: DeliveryError.self) { try result.get() }
    #expect(try files().isEmpty)
  }

  @Test func leftoversOfAKilledUploadAreRemoved() throws {
    try Data([1]).write(to: URL(fileURLWithPath: scratch.path("objects dir/.upload-abc")))
    try Data([1]).write(to: URL(fileURLWithPath: scratch.path("objects dir/kept")))
    try store.removeLeftovers()
    #expect(try files() == ["kept"])
  }

  @Test func aStoreThatIsGoneIsAStorageError() async throws {
    try FileManager.default.removeItem(atPath: scratch.path("objects dir"))
    await #expect { try await store.put(object, bytes, contentType: "x/y") { _ in } } throws: { error in
      (error as? DeliveryError)?.cause == .localStorageError
    }
  }
}
