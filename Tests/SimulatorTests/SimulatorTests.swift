import Foundation
import TestSupport
import Testing

/// A thousand lives of a spool, drawn from seeds, in which clients, faults and kills mix: `docs/reliability.md` says what
/// is simulated. `PHOTOSPOOL_SEEDS` is another number of them, `PHOTOSPOOL_SEED` the one to live through again.
@Suite(.timeLimit(.minutes(10))) struct SimulatorTests {
  private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("photospool-simulator").path
  private static let environment = ProcessInfo.processInfo.environment
  private static let seeds = environment["PHOTOSPOOL_SEEDS"] ?? "1000"

  private func simulate(_ arguments: String...) throws -> CommandResult {
    try run([Self.program] + arguments, environment: ["SWIFT_BACKTRACE": "enable=no"])
  }

  @Test("every promise is kept in a thousand lives") func lives() throws {
    let result =
      try Self.environment["PHOTOSPOOL_SEED"].map { try simulate("trace", $0) } ?? simulate("1", Self.seeds)
    #expect(result.status == 0, "status \(result.status): \(result.output)\(result.errors)")
  }

  @Test("a seed is the same life every time") func replay() throws {
    for seed in ["7", "8", "9"] {
      let (one, other) = (try simulate("trace", seed), try simulate("trace", seed))
      #expect(one.output == other.output && one.output.count > 300)
    }
    #expect(try simulate("trace", "7").output != simulate("trace", "8").output)
  }

  /// Negative controls: without them nobody would know that the oracle sees anything.
  @Test(
    "a planted mistake is found within a thousand lives",
    arguments: [
      "publishesBeforeCommit", "forgetsKey", "ordersByName", "deletesOffered", "purgesInHand", "doesNotRecover",
      "ignoresCancel",
    ])
  func planted(_ plant: String) throws {
    let result = try simulate("1", "1000", plant)
    #expect(result.status == 1 && result.output.hasPrefix("seed "), "\(result.output)\(result.errors)")
  }
}
