import DurableFiles
import FoundationEssentials
import Glibc
import Ledgers
import Messages

/// `photospool-simulator FIRST COUNT [PLANT]` lives through so many lives and tells of the first that breaks a promise;
/// `photospool-simulator trace SEED [PLANT]` tells one, step by step.
@main struct Main {
  private static let steps = 50
  /// Lives at a time.
  private static let width = 2

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 2, let second = UInt64(arguments[1]) else {
      print("photospool-simulator FIRST COUNT [PLANT], or trace SEED [PLANT]")
      print(Plant.allCases.map(\.rawValue).joined(separator: " "))
      exit(64)
    }
    let plant = arguments.count > 2 ? Plant(rawValue: arguments[2]) : nil
    let template = try Template()
    if arguments[0] == "trace" {
      let life = try await live(second, plant, template)
      for line in life.trace { print(line) }
      if let fault = life.fault { return end(second, fault) }
      return
    }
    guard let first = UInt64(arguments[0]) else { exit(64) }
    var kills = 0
    var steps = 0
    for start in stride(from: first, to: first + second, by: width) {
      let lives = try await withThrowingTaskGroup(of: (seed: UInt64, life: Life).self) { group in
        for seed in start..<min(start + UInt64(width), first + second) {
          group.addTask { (seed, try await live(seed, plant, template)) }
        }
        var lives = [(seed: UInt64, life: Life)]()
        for try await life in group { lives.append(life) }
        return lives.sorted { $0.seed < $1.seed }
      }
      for (seed, life) in lives {
        if let fault = life.fault { return end(seed, fault) }
        kills += life.kills
        steps += life.trace.count
      }
    }
    print("\(second) seeds, \(steps) events, \(kills) kills: every promise was kept")
  }

  private static func end(_ seed: UInt64, _ fault: String) {
    print("seed \(seed): \(fault)")
    exit(1)
  }

  struct Life: Sendable {
    let trace: [String]
    let kills: Int
    let fault: String?
  }

  private static func live(_ seed: UInt64, _ plant: Plant?, _ template: Template) async throws -> Life {
    let folder = try template.copy()
    defer { folder.remove() }
    let ledger = try Ledger(in: Directory(path: folder.path))
    let simulation = Simulation(seed: seed, ledger: ledger, plant: plant)
    var fault: String?
    do { try await simulation.run(steps: steps) } catch { fault = "\(error)" }
    try ledger.close()
    return Life(trace: simulation.trace, kills: simulation.kills, fault: fault)
  }
}

/// A directory in memory.
struct Folder: Sendable {
  let path: String

  init() throws {
    path = "/dev/shm/photospool-simulator-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// An empty ledger, made once.
final class Template: Sendable {
  private let bytes: Data

  init() throws {
    let folder = try Folder()
    defer { folder.remove() }
    try Ledger(in: Directory(path: folder.path)).close()
    bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(Ledger.fileName)"))
  }

  func copy() throws -> Folder {
    let folder = try Folder()
    try bytes.write(to: URL(fileURLWithPath: "\(folder.path)/\(Ledger.fileName)"))
    return folder
  }
}
