import Foundation
import TestSupport
import Testing

/// Every parser of outside bytes replays its corpus and hundreds of mutations in a process of its own. `make fuzz`
/// continues with libFuzzer.
@Suite(.timeLimit(.minutes(10))) struct CorpusTests {
  private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("photospool-fuzz").path
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz/Corpus").path

  private static func fuzz(_ arguments: [String]) throws -> CommandResult {
    try run([program] + arguments, environment: ["SWIFT_BACKTRACE": "enable=no"])
  }

  /// Mutations per parser.
  private static let mutations = ProcessInfo.processInfo.environment["PHOTOSPOOL_MUTATIONS"] ?? "300"
  private static let seed = ProcessInfo.processInfo.environment["PHOTOSPOOL_SEED"] ?? "1"

  static let targets: [String] = {
    let names = (try? fuzz([]))?.output.split(separator: "\n").map(String.init)
    return names ?? []
  }()

  @Test("a parser survives what is made of its corpus", arguments: targets)
  func mutations(_ target: String) throws {
    let scratch = try TemporaryDirectory()
    let kept = scratch.path("input")
    let result = try Self.fuzz([Self.corpus, Self.mutations, Self.seed, kept, target])
    let input = (try? Data(contentsOf: URL(fileURLWithPath: kept)))?.base64EncodedString() ?? "none"
    #expect(
      result.status == 0,
      "status \(result.status): \(result.output)\(result.errors) the input, in base64: \(input)")
    #expect(result.output.hasPrefix("\(target): "))
  }

  @Test("every corpus has its parser and every parser its corpus") func corpora() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus)
    #expect(!Self.targets.isEmpty && folders.sorted() == Self.targets.sorted())
  }
}
