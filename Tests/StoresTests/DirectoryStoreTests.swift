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
  private let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  private var object: ObjectName { ObjectName(SHA256Digest(of: bytes)) }

  init() throws {
    scratch = try TemporaryDirectory()
    store = try Self.open(scratch.path("objects dir"))
  }

  private static func open(_ path: String, baseURL: String? = nil) throws -> DirectoryStore {
    try DirectoryStore(directory: path, baseURL: baseURL, pool: BlockingPool(label: "test", threads: 2))
  }

  /// The cause for which an object cannot be put.
  private func cause(of store: DirectoryStore) async throws -> Cause? {
    try await failure { try await store.put(object, bytes, contentType: "x/y") { _ in } }?.cause
  }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.path("objects dir"))
  }

  private func stored() throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: scratch.path("objects dir/\(object)"))))
  }

  @Test func anObjectIsKeptUnderItsDigestAndFoundAtItsURL() async throws {
    let url = try await store.put(object, bytes, contentType: "x/y") { _ in }
    #expect(try files() == [object.text])
    #expect(url.hasPrefix("file:///") && url.contains("objects%20dir"))
    let target = try #require(URL(string: url))
    #expect(try Data(contentsOf: target) == Data(bytes))
  }

  @Test(arguments: ["https://photos.example.test/o", "https://photos.example.test/o/"])
  func aBaseURLStandsBeforeTheName(_ base: String) async throws {
    let store = try Self.open(scratch.path("objects dir"), baseURL: base)
    let url = try await store.put(object, bytes, contentType: "x/y") { _ in }
    #expect(url == "https://photos.example.test/o/\(object)")
  }

  @Test func twoStoresCannotShareADirectory() throws {
    let other = try Self.open(scratch.path("other"))
    try DirectoryStore.expectOwnDirectories(of: [store, other])
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("link"), withDestinationPath: scratch.path("objects dir"))
    let link = try Self.open(scratch.path("link"))
    let error = #expect(throws: DeliveryError.self) {
      try DirectoryStore.expectOwnDirectories(of: [store, other, link])
    }
    #expect(error?.cause == .configError && error?.sentence.contains("give each a directory of its own") == true)
  }

  @Test func objectsAreForTheirOwnerAlone() async throws {
    _ = try await store.put(object, bytes, contentType: "x/y") { _ in }
    let file = try FileManager.default.attributesOfItem(atPath: scratch.path("objects dir/\(object)"))
    let directory = try FileManager.default.attributesOfItem(atPath: scratch.path("objects dir"))
    #expect(file[.posixPermissions] as? Int == 0o600)
    #expect(directory[.posixPermissions] as? Int == 0o700)
  }

  @Test func puttingTwiceSucceedsAndChangesNothing() async throws {
    let first = try await store.put(object, bytes, contentType: "x/y") { _ in }
    let second = try await store.put(object, [1, 2, 3], contentType: "x/y") { _ in }
    #expect(first == second)
    #expect(try stored() == bytes)
  }

  @Test func anEmptyObjectIsKept() async throws {
    let nothing = ObjectName(SHA256Digest(of: []))
    _ = try await store.put(nothing, [], contentType: "x/y") { _ in }
    #expect(try files() == [nothing.text])
  }

  @Test func progressGoesFromZeroToOneAndNeverBack() async throws {
    let seen = Mutex<[Double]>([])
    _ = try await store.put(object, bytes, contentType: "x/y") { fraction in seen.withLock { $0.append(fraction) } }
    let fractions = seen.withLock { $0 }
    #expect(fractions.first == 0 && fractions.last == 1 && fractions == fractions.sorted() && fractions.count > 3)
  }

  @Test func cancelledUploadHarmsNoConcurrentUploadOfTheSameObject() async throws {
    let (store, object, bytes) = (store, object, bytes)
    let (firstIsHalfway, secondBegins) = AsyncStream<Void>.makeStream()
    let (secondIsHalfway, firstIsDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let firstWaits = Atomic(true)
    let secondWaits = Atomic(true)
    async let first = store.put(object, bytes, contentType: "x/y") { fraction in
      guard fraction > 0, firstWaits.exchange(false, ordering: .relaxed) else { return }
      secondBegins.finish()
      secondIsHalfway.wait()
    }
    for await _ in firstIsHalfway {}
    let second = Task {
      try await store.put(object, bytes, contentType: "x/y") { fraction in
        guard fraction > 0, secondWaits.exchange(false, ordering: .relaxed) else { return }
        secondIsHalfway.signal()
        firstIsDone.wait()
      }
    }
    _ = try await first
    second.cancel()
    firstIsDone.signal()
    await #expect(throws: DeliveryError(.cancelled, "the upload was cancelled")) { try await second.value }
    #expect(try files() == [object.text])
    #expect(try stored() == bytes)
  }

  @Test func manyUploadsOfOneObjectAtOnceAllSucceed() async throws {
    let (store, object, bytes) = (store, object, bytes)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { _ = try await store.put(object, bytes, contentType: "x/y") { _ in } } }
      try await group.waitForAll()
    }
    #expect(try files() == [object.text])
    #expect(try stored() == bytes)
  }

  @Test(arguments: [0, 0.3, 0.9])
  func aCancelledUploadLeavesNothing(from fraction: Double) async throws {
    let (store, object, bytes) = (store, object, bytes)
    let task = Mutex<Task<String, any Error>?>(nil)
    let (isKnown, known) = AsyncStream<Void>.makeStream()
    let upload = Task {
      for await _ in isKnown {}
      return try await store.put(object, bytes, contentType: "x/y") { seen in
        if seen >= fraction { task.withLock { $0?.cancel() } }
      }
    }
    task.withLock { $0 = upload }
    known.finish()
    await #expect(throws: DeliveryError(.cancelled, "the upload was cancelled")) { try await upload.value }
    #expect(try files().isEmpty)
  }

  @Test func deletingTwiceIsAsGoodAsOnce() async throws {
    _ = try await store.put(object, bytes, contentType: "x/y") { _ in }
    try await store.delete(object)
    try await store.delete(object)
    #expect(try files().isEmpty)
  }

  @Test func leftoversOfAKilledUploadAreRemovedAndNothingElse() throws {
    let others = ["kept", ".upload-", ".upload-notes.txt", ".upload-0123456789ABCDEF", object.text]
    for name in others + [".upload-0123456789abcdef"] {
      try Data([1]).write(to: URL(fileURLWithPath: scratch.path("objects dir/\(name)")))
    }
    try store.removeLeftovers()
    #expect(try files().sorted() == others.sorted())
  }

  @Test func aStoreThatIsGoneIsAStorageError() async throws {
    try FileManager.default.removeItem(atPath: scratch.path("objects dir"))
    #expect(try await cause(of: store) == .localStorageError)
  }

  /// Nobody can make files in `/sys/kernel`, not even root.
  @Test func unwritableStoreIsAStorageError() async throws {
    let store = try Self.open("/sys/kernel")
    #expect(try await cause(of: store) == .localStorageError)
  }

  @Test func directoryUnderTheObjectsNameIsAStorageError() async throws {
    try FileManager.default.createDirectory(
      atPath: scratch.path("objects dir/\(object)"), withIntermediateDirectories: true)
    #expect(try await cause(of: store) == .localStorageError)
  }

  @Test(.enabled(if: SmallDisk.isAllowed, "only root may mount a disk that is soon full"))
  func aFullDiskIsSaidToBeFullAndKeepsNothingHalf() async throws {
    try await SmallDisk.use { path in
      let store = try Self.open(path)
      #expect(try await cause(of: store) == .localStorageFull)
      #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
      let small = Array(bytes.prefix(1000))
      _ = try await store.put(ObjectName(SHA256Digest(of: small)), small, contentType: "x/y") { _ in }
    }
  }
}
