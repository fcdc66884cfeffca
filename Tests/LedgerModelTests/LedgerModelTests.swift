import DurableFiles
import Foundation
import TestSupport
import Testing

@testable import Ledgers

/// The ledger's transactions against a model of what they promise. The callers are not the daemon's own: what the daemon
/// does between its transactions is tested with the real programs (`Tests/Torture`).
///
/// `PHOTOSPOOL_SEEDS` is another number of lives, `PHOTOSPOOL_SEED` the one to live through again.
@Suite(.timeLimit(.minutes(10))) struct LedgerModelTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seeds: ClosedRange<UInt64> =
    environment["PHOTOSPOOL_SEED"].flatMap(UInt64.init).map { $0...$0 }
    ?? 1...(environment["PHOTOSPOOL_SEEDS"].flatMap(UInt64.init) ?? 200)

  /// Returns what the life broke, and how often it was killed.
  private func live(_ seed: UInt64, _ mistake: Mistake? = nil) async throws -> (fault: String?, kills: Int) {
    // In memory, where it is: a sync to a disk says nothing of what is looked at here.
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

  @Test("Whatever comes between two transactions, the ledger keeps its promises")
  func promises() async throws {
    var kills = 0
    for seed in Self.seeds {
      let life = try await live(seed)
      #expect(life.fault == nil, "PHOTOSPOOL_SEED=\(seed)")
      kills += life.kills
    }
    #expect(kills > 0)
  }

  /// Negative controls: they show that the model sees something.
  @Test("A mistake that is made on purpose is found", arguments: Mistake.allCases)
  func mistake(_ mistake: Mistake) async throws {
    for seed in UInt64(1)...200 where try await live(seed, mistake).fault != nil { return }
    Issue.record("no life of 200 has shown \(mistake)")
  }
}
