import CPixels
import Foundation
import TestSupport
import Testing

@testable import Imaging

/// The filter loops against simple ones: they process many samples at a time, with special cases for some numbers of
/// taps.
@Suite struct FilterLoopTests {
  private static let width = 331

  private func sample(_ samples: some Sequence<UInt8>, _ weights: some Sequence<Int16>) -> UInt8 {
    let sum = zip(samples, weights).reduce(ResamplingFilter.one / 2) { $0 + Int($1.0) * Int($1.1) }
    return UInt8(clamping: sum >> 14)
  }

  private func weights(_ count: Int, _ random: inout SeededRandom) -> [Int16] {
    (0..<count).map { _ in Int16.random(in: -3000...6000, using: &random) }
  }

  private func row(_ random: inout SeededRandom) -> [UInt8] {
    (0..<Self.width).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  @Test("Rows are weighed sample by sample", arguments: [1, 2, 3, 6, 7, 13, 16, 25, 70])
  func down(taps: Int) {
    var random = SeededRandom(seed: UInt64(taps))
    let rows = (0..<taps).map { _ in row(&random) }
    let weights = weights(taps, &random)
    for width in [1, 15, 63, 64, 65, 128, Self.width] {
      var out = [UInt8](repeating: 0, count: width)
      rows.flatMap(\.self).withUnsafeBufferPointer { flat in
        let starts = (0..<taps).map { row in flat.baseAddress.map { $0 + Self.width * row } }
        starts.withUnsafeBufferPointer {
          cpixels_filter_rows($0.baseAddress, weights, Int32(taps), &out, Int32(width))
        }
      }
      #expect(out == (0..<width).map { x in sample(rows.map { $0[x] }, weights) })
    }
  }

  @Test("A row is weighed across", arguments: [8, 16, 24, 32, 40, 80])
  func across(taps: Int) {
    var random = SeededRandom(seed: UInt64(taps))
    let row = row(&random)
    for count in [1, 7, 8, 9, 100] {
      let first = (0..<count).map { _ in Int32.random(in: 0...Int32(Self.width - taps), using: &random) }
      let weights = weights(count * taps, &random)
      var out = [UInt8](repeating: 0, count: count)
      cpixels_filter_across(row, first, weights, Int32(taps), &out, Int32(count))
      #expect(
        out == (0..<count).map { sample(row[Int(first[$0])...].prefix(taps), weights[($0 * taps)...].prefix(taps)) })
    }
  }

  @Test("Weights are those of Lanczos with three lobes", arguments: [(4000, 2048), (5312, 2048), (300, 200), (3, 7)])
  func lanczos(source: Int, target: Int) {
    let filter = ResamplingFilter(
      source: source, sourceExtent: Double(source), target: target, targetExtent: Double(target), mirrored: false,
      multiple: 1)
    let ratio = Double(source) / Double(target)
    let scale = max(ratio, 1)
    for index in 0..<target {
      let line = (0..<filter.taps).map { tap in
        let x = (Double(Int(filter.first[index]) + tap) + 0.5 - (Double(index) + 0.5) * ratio) / scale
        guard abs(x) < 3 else { return 0.0 }
        return x == 0 ? 1 : sin(.pi * x) * sin(.pi * x / 3) * 3 / (.pi * x * .pi * x)
      }
      let sum = line.reduce(0, +)
      for (tap, weight) in line.enumerated() {
        let rounded = Double(filter.weights[index * filter.taps + tap])
        // One weight takes the rounding error.
        #expect(abs(rounded - weight / sum * Double(ResamplingFilter.one)) < 8)
      }
    }
  }
}
