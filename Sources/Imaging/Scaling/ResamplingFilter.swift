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

    /// Fills `line` with what places `step` apart weigh, the first of them at `first`.
    fileprivate func weigh(_ line: inout [Double], from first: Double, by step: Double) {
      switch self {
      case .blur:
        for tap in line.indices {
          let x = first + Double(tap) * step
          line[tap] = abs(x) < 3 ? exp(-x * x / 2) : 0
        }
      case .sharp:
        // Sines of angles that are as far apart come from one another; each by itself would take longer than the photo's
        // filtering across.
        var whole = Rotation(from: Double.pi * first, by: Double.pi * step)
        var third = Rotation(from: Double.pi * first / 3, by: Double.pi * step / 3)
        for tap in line.indices {
          let x = first + Double(tap) * step
          let square = Double.pi * Double.pi * x * x
          line[tap] = abs(x) >= 3 ? 0 : abs(x) > 1e-6 ? 3 * whole.sine * third.sine / square : 1
          whole.advance()
          third.advance()
        }
      }
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
      if copies {
        line[0] = 1
      } else {
        kernel.weigh(&line, from: (Double(start) + 0.5 - center) / scale, by: 1 / scale)
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

/// A point that goes round a circle in equal steps.
private struct Rotation {
  private(set) var sine: Double
  private var cosine: Double
  private let step: (sine: Double, cosine: Double)

  init(from angle: Double, by step: Double) {
    (sine, cosine) = (sin(angle), cos(angle))
    self.step = (sin(step), cos(step))
  }

  mutating func advance() {
    (sine, cosine) = (sine * step.cosine + cosine * step.sine, cosine * step.cosine - sine * step.sine)
  }
}
