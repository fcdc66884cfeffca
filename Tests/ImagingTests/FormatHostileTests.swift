import Foundation
import Imaging
import Photos
import TestSupport
import Testing

/// Cut, changed or shuffled files: each is refused with the right cause, or prepared.
@Suite struct FormatHostileTests {
  @Test(
    "A file cut off anywhere before the end of its picture is refused by the name of its format",
    arguments: FormatSample.names)
  func cut(name: String) throws {
    let sample = try FormatSample.named(name)
    let end = sample.bytes.count - sample.spare
    let step = sample.format == .jpeg ? 1 : max(1, end / 100)
    for length in Array(0..<min(40, end)) + Array(stride(from: 40, to: end, by: step)) + [end - 1] {
      guard let error = refusal(of: Array(sample.bytes[..<length])) else {
        Issue.record("\(name) cut at \(length) of \(sample.bytes.count)")
        continue
      }
      // Without the first bytes it has no format.
      let isKnown = PhotoFormat(of: Array(sample.bytes[..<length])) != nil
      #expect(error.cause == (isKnown ? .truncatedImage : .unsupportedImage), "\(length): \(error)")
      #expect(!isKnown || error.sentence.contains(sample.format.name), "\(length): \(error)")
    }
  }

  @Test("A file with any bytes changed is prepared, or refused for a reason of its own", arguments: FormatSample.names)
  func changed(name: String) throws {
    let sample = try FormatSample.named(name)
    var random = SeededRandom(seed: 41)
    var prepared = 0
    for _ in 0..<sample.rounds {
      var broken = sample.bytes
      for _ in 0...random.next() % 8 {
        broken[Int(random.next() % UInt64(broken.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      if decide(broken, name) { prepared += 1 }
    }
    if sample.format == .jpeg { #expect(0 < prepared && prepared < sample.rounds) }
  }

  @Test("A file with blocks taken out, doubled or zeroed is prepared or refused", arguments: FormatSample.names)
  func shuffled(name: String) throws {
    let sample = try FormatSample.named(name)
    var random = SeededRandom(seed: 43)
    for round in 0..<sample.rounds * 3 / 4 {
      let start = 2 + Int(random.next() % UInt64(sample.bytes.count - 2))
      let block = start..<min(sample.bytes.count, start + 1 + Int(random.next() % 64))
      var broken = sample.bytes
      switch round % 3 {
      case 0: broken.removeSubrange(block)
      case 1: broken.insert(contentsOf: sample.bytes[block], at: start)
      default: broken.replaceSubrange(block, with: [UInt8](repeating: 0, count: block.count))
      }
      decide(broken, name)
    }
  }
}
