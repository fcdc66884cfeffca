import FoundationEssentials
import Glibc

/// Replays a corpus and inputs derived from it, which depend on the seed.
struct Replay {
  let corpus: String
  let mutations: Int
  let seed: UInt64
  /// The file for an input that kills the process.
  let keep: String

  /// Returns the number of inputs.
  ///
  /// - Throws: `BrokenProperty`, after keeping the input; errors of the disk.
  func run(_ target: FuzzTarget) throws -> Int {
    Watch.limit(target.limits)
    let folder = "\(corpus)/\(target.name)"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    guard !names.isEmpty else { throw BrokenProperty(description: "\(folder) is empty") }
    let inputs = try names.map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)"))) }
    for (name, input) in zip(names, inputs) {
      do { try read(input, target) } catch {
        throw BrokenProperty(description: "\(target.name)/\(name): \(error)")
      }
    }
    var mutator = Mutator(seed: seed, corpus: inputs, words: target.words)
    for number in 0..<mutations {
      do { try read(mutator.next(), target) } catch {
        throw BrokenProperty(description: "\(target.name), mutation \(number) of seed \(seed), in \(keep): \(error)")
      }
    }
    return inputs.count + mutations
  }

  private func read(_ input: [UInt8], _ target: FuzzTarget) throws(BrokenProperty) {
    try Watch.over(input, target.limits) { input throws(BrokenProperty) in
      do throws(BrokenProperty) { try target.read(input) } catch {
        Watch.keep()
        throw error
      }
    }
  }
}
