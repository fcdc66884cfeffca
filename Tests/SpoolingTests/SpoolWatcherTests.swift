import Synchronization
import TestSupport
import Testing

@testable import Spooling

@Suite(.timeLimit(.minutes(10))) struct SpoolWatcherTests {
  private let scratch: TemporaryDirectory
  private let spool: Spool

  init() throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
  }

  @Test("One watcher of the process has the library at a time, and leaves it to the next one")
  func oneAtATime() async throws {
    let first = try await started()
    let second = try SpoolWatcher(spool) { _ in }
    #expect(!second.start())
    first.stop()
    try await started().stop()
  }

  @Test("What arrives before a fence is told before it")
  func fences() async throws {
    let (told, teller) = AsyncStream.makeStream(of: SpoolEvent.self)
    let watcher = try await started { teller.yield($0) }
    for number in 0..<100 { #expect(try spool.new.make("r\(number)")) }
    let fence = try watcher.fence()
    var arrived = [String]()
    for await event in told {
      if case .builtInPlace(let name) = event { arrived.append(name) }
      if case .fence(fence) = event { break }
    }
    #expect(arrived == (0..<100).map { "r\($0)" })
    watcher.stop()
  }

  /// A watcher, once those of other tests have left it the library.
  private func started(_ handler: @escaping @Sendable (SpoolEvent) -> Void = { _ in }) async throws -> SpoolWatcher {
    let watcher = try SpoolWatcher(spool, handler: handler)
    while !watcher.start() { try await Task.sleep(for: .milliseconds(10)) }
    return watcher
  }
}
