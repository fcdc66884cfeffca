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
    let second = try SpoolWatcher(spool, SpoolSignals())
    #expect(!second.start())
    first.stop()
    try await started().stop()
  }

  @Test("Arrivals before a fence are reported before it")
  func fences() async throws {
    let signals = SpoolSignals()
    let watcher = try await started(signals)
    let names = (0..<100).map { "before the fence \($0)" }
    for name in names { #expect(try spool.new.make(name)) }
    #expect(await watcher.pass(fence: try watcher.fence(), within: 600))
    // The library's buffer may begin with events of the watcher before.
    #expect(signals.new.take().builtInPlace.filter { $0.hasPrefix("before the fence") } == names)
    watcher.stop()
  }

  /// A watcher, once other tests have released the library.
  private func started(_ signals: SpoolSignals = SpoolSignals()) async throws -> SpoolWatcher {
    let watcher = try SpoolWatcher(spool, signals)
    while !watcher.start() { try await Task.sleep(for: .milliseconds(10)) }
    return watcher
  }
}
