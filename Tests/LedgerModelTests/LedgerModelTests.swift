import DurableFiles
import Foundation
import TestSupport
import Testing

@testable import Ledgers

/// The ledger's transactions against a model of its promises. Their callers are not the daemon's; `Tests/Torture` tests
/// those with the real programs. `PHOTOSPOOL_SEEDS` sets the number of lives, `PHOTOSPOOL_SEED` repeats one.
@Suite(.timeLimit(.minutes(10))) struct LedgerModelTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seeds: ClosedRange<UInt64> =
    environment["PHOTOSPOOL_SEED"].flatMap(UInt64.init).map { $0...$0 }
    ?? 1...(environment["PHOTOSPOOL_SEEDS"].flatMap(UInt64.init) ?? 80)

  /// Returns the broken promise, if any, and the number of kills.
  private func live(_ seed: UInt64, _ mistake: Mistake? = nil) async throws -> (fault: String?, kills: Int) {
    // In memory: syncs do not matter here.
    let base = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    let path = "\(base)/photospool-ledger-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let ledger = try Ledger(in: Directory(path: path))
    let life = Life(seed: seed, ledger: ledger, mistake: mistake)
    var fault: String?
    do { try await life.run(steps: 60) } catch let broken as Promises.Broken { fault = broken.description }
    try ledger.close()
    return (fault, life.kills)
  }

  @Test("The ledger keeps its promises, whatever comes between two transactions")
  func promises() async throws {
    var kills = 0
    for seed in Self.seeds {
      let life = try await live(seed)
      #expect(life.fault == nil, "PHOTOSPOOL_SEED=\(seed)")
      kills += life.kills
    }
    #expect(kills > 0)
  }

  /// Negative controls, which show that the model detects mistakes.
  @Test("A mistake that is made on purpose is found", arguments: Mistake.allCases)
  func mistake(_ mistake: Mistake) async throws {
    for seed in UInt64(1)...200 where try await live(seed, mistake).fault != nil { return }
    Issue.record("no life of 200 has shown \(mistake)")
  }
}
