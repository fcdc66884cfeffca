import Glibc

/// The weights by which samples of one line become samples of another.
struct ResamplingFilter {
  /// The shape of the weights around the place that is asked for.
  enum Kernel: Hashable {
    /// Lanczos with three lobes, widened when the line becomes shorter so that nothing aliases.
    case sharp
    /// A bell with this standard deviation in samples of the target.
    case blur(Double)

    /// By how much the kernel is stretched from its own measure, in which it ends at three.
    fileprivate var width: Double {
      if case .blur(let deviation) = self { deviation } else { 1 }
    }

    fileprivate func weight(_ x: Double) -> Double {
      guard abs(x) < 3 else { return 0 }
      guard self == .sharp else { return exp(-x * x / 2) }
      guard abs(x) > 1e-9 else { return 1 }
      let angle = Double.pi * x
      return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }
  }

  /// Fixed-point 1.0 of the weights.
  static let one = 1 << 14

  /// Samples that are weighed for one result; those of no weight included.
  let taps: Int
  /// The first of them for each result.
  let first: [Int32]
  /// `taps` weights for each result, one after the other; their sum is `one`.
  let weights: [Int16]
  /// Every result is one sample, unchanged.
  let copies: Bool

  /// - Parameters:
  ///   - source: how many samples there are.
  ///   - sourceExtent: how many of them the picture covers, from the left edge of the first.
  ///   - target: how many samples are wanted.
  ///   - targetExtent: how many of them the picture is to cover.
  ///   - mirrored: the last becomes the first.
  ///   - multiple: `taps` is made a multiple of this.
  init(
    source: Int, sourceExtent: Double, target: Int, targetExtent: Double, mirrored: Bool, multiple: Int,
    kernel: Kernel = .sharp
  ) {
    let ratio = sourceExtent / targetExtent
    let scale = max(ratio, 1) * kernel.width
    let centers = (0..<target).map { index in
      let center = (Double(index) + 0.5) * ratio
      return mirrored ? sourceExtent - center : center
    }
    let copies =
      kernel == .sharp && abs(ratio - 1) < 1e-9
      && centers.allSatisfy { abs($0 - 0.5 - ($0 - 0.5).rounded()) < 1e-6 && (0.5...Double(source)).contains($0) }
    let reach = 3 * scale
    let wanted = copies ? 1 : min(source, Int((2 * reach).rounded(.up)) + 1)
    let taps = (wanted + multiple - 1) / multiple * multiple
    var first = [Int32](repeating: 0, count: target)
    var weights = [Int16](repeating: 0, count: target * taps)
    var line = [Double](repeating: 0, count: wanted)
    for (index, center) in centers.enumerated() {
      let lowest = copies ? Int(center) : Int((center - reach).rounded(.down))
      let start = min(max(lowest, 0), source - wanted)
      for tap in 0..<wanted {
        line[tap] = copies ? 1 : kernel.weight((Double(start + tap) + 0.5 - center) / scale)
      }
      first[index] = Int32(start)
      Self.store(line, into: &weights, at: index * taps)
    }
    self.taps = taps
    self.first = first
    self.weights = weights
    self.copies = copies
  }

  /// Rounds a line of weights so that they sum to one exactly: what rounding lost goes to the heaviest.
  private static func store(_ line: [Double], into weights: inout [Int16], at offset: Int) {
    let sum = line.reduce(0, +)
    var rest = one
    var heaviest = offset
    for (tap, weight) in line.enumerated() {
      let rounded = Int((weight / sum * Double(one)).rounded())
      weights[offset + tap] = Int16(clamping: rounded)
      rest -= rounded
      if weights[offset + tap] > weights[heaviest] { heaviest = offset + tap }
    }
    weights[heaviest] += Int16(clamping: rest)
  }
}
