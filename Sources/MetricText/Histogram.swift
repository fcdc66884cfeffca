/// A count of values by upper bounds.
package struct Histogram: Sendable, Equatable {
  private let bounds: [Double]
  /// Values per bucket, above the bound before and not above its own; the last is unbounded.
  private var counts: [Int]
  private var sum = 0.0

  /// - Parameter bounds: in ascending order.
  package init(bounds: [Double]) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  package mutating func observe(_ value: Double) {
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
    sum += value
  }

  func samples(_ labels: [MetricFamily.Label]) -> [MetricFamily.Sample] {
    var total = 0
    var samples = [MetricFamily.Sample]()
    for (bound, count) in zip(bounds + [.infinity], counts) {
      total += count
      let bucket = labels + [MetricFamily.Label(name: "le", value: MetricFamily.number(bound))]
      samples.append(.init(suffix: "_bucket", labels: bucket, value: Double(total)))
    }
    samples.append(.init(suffix: "_sum", labels: labels, value: sum))
    samples.append(.init(suffix: "_count", labels: labels, value: Double(total)))
    return samples
  }
}
