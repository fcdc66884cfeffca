import MetricText
import Synchronization

/// Durations of delivery steps since the process began.
final class StepTimes: Sendable {
  /// From appending a text to a file to uploading a photo slowly.
  private static let bounds = [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300]

  private let histograms: Mutex<[String: Histogram]>

  init() {
    let steps = [StepError.Step.prepare, .upload, .publish].map { ($0.rawValue, Histogram(bounds: Self.bounds)) }
    histograms = Mutex(Dictionary(uniqueKeysWithValues: steps))
  }

  /// Records a step and returns its seconds for the log.
  func done(_ step: StepError.Step, since begin: ContinuousClock.Instant) -> String {
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    histograms.withLock { $0[step.rawValue]?.observe(seconds) }
    return Self.text(seconds)
  }

  var all: [String: Histogram] { histograms.withLock { $0 } }

  static func text(_ seconds: Double) -> String {
    let milliseconds = Int((seconds * 1000).rounded())
    let rest = String(milliseconds % 1000)
    return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}
