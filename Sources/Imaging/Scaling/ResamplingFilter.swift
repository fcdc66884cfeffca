import Glibc

/// The weights that turn samples of one line into samples of another.
struct ResamplingFilter {
  /// The shape of the weights.
  enum Kernel: Hashable {
    /// Lanczos with three lobes, widened for reductions to avoid aliasing.
    case sharp
    /// A Gaussian with this standard deviation in target samples.
    case blur(Double)

    /// The stretch of the kernel from its own scale, in which it ends at three.
    fileprivate var width: Double {
      if case .blur(let deviation) = self { deviation } else { 1 }
    }

    /// Fills `line` with weights from `first` in distances of `step`.
    fileprivate func weigh(_ line: inout [Double], from first: Double, by step: Double) {
      switch self {
      case .blur:
        for tap in line.indices {
          let x = first + Double(tap) * step
          line[tap] = abs(x) < 3 ? exp(-x * x / 2) : 0
        }
      case .sharp:
        // Sines of equidistant angles by rotation; computing each would take longer than horizontal filtering.
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

  /// The fixed-point 1.0 of weights.
  static let one = 1 << 14

  /// Samples per result, including those with weight zero.
  let taps: Int
  /// The first sample of each result.
  let first: [Int32]
  /// `taps` weights for each result; their sum is `one`.
  let weights: [Int16]
  /// Every result equals one sample.
  let copies: Bool

  /// - Parameters:
  ///   - source: the number of samples.
  ///   - sourceExtent: how many of them the picture covers, from the left edge of the first.
  ///   - target: the number of results.
  ///   - targetExtent: how many of them the picture covers.
  ///   - mirrored: reverses the results.
  ///   - multiple: `taps` is a multiple of this.
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

  /// Rounds weights so that their sum is exactly one; the largest takes the difference.
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

/// A point that moves on a circle in equal steps.
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
