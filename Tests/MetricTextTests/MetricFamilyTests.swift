import Foundation
import MetricText
import TestSupport
import Testing

@Suite struct MetricFamilyTests {
  private struct Sample: Decodable, Equatable {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  private struct Family: Decodable {
    let name: String
    let type: String
    let help: String
    let samples: [Sample]
  }

  /// As Prometheus' own client parses it.
  private func parsed(_ families: [MetricFamily]) throws -> [Family] {
    let result = try run([python, pythonScript("read_metrics.py")], input: families.map(\.text).joined())
    #expect(result.status == 0, "\(result.errors)")
    return try JSONDecoder().decode([Family].self, from: Data(result.output.utf8))
  }

  @Test("Counters, gauges and labels of any text are what Prometheus' own parser reads")
  func families() throws {
    let hostile = "a\"b\\c\nd\\n{}=,é"
    let found = try parsed([
      MetricFamily("photospool_x_total", .counter, "Help with \\ and\na line break.", 12),
      MetricFamily("photospool_y_seconds", .gauge, "Y.", 1_700_000_000.125),
      MetricFamily("photospool_z", .gauge, "Z.", by: "state", ["b": 2, hostile: 1]),
      MetricFamily("photospool_none", .gauge, "Nothing.", by: "state", [:]),
    ])
    #expect(found.map(\.name) == ["photospool_x", "photospool_y_seconds", "photospool_z", "photospool_none"])
    #expect(found.map(\.type) == ["counter", "gauge", "gauge", "gauge"])
    #expect(found[0].help == "Help with \\ and\na line break.")
    #expect(found[0].samples == [Sample(name: "photospool_x_total", labels: [:], value: 12)])
    #expect(found[1].samples[0].value == 1_700_000_000.125)
    #expect(Set(found[2].samples.map { $0.labels["state"] }) == [hostile, "b"])
    #expect(found[3].samples.isEmpty)
  }

  @Test("The buckets of a histogram hold what is not above their bound, and add up")
  func histogram() throws {
    var histogram = Histogram(bounds: [0.1, 1])
    for value in [0.05, 0.1, 0.5, 7] { histogram.observe(value) }
    let found = try parsed([
      MetricFamily("photospool_step_duration_seconds", "Steps.", by: "step", ["upload": histogram])
    ])
    #expect(found[0].type == "histogram")
    let buckets = found[0].samples.filter { $0.name.hasSuffix("_bucket") }
    #expect(buckets.map { $0.labels["le"] } == ["0.1", "1", "+Inf"])
    #expect(buckets.map(\.value) == [2, 3, 4])
    #expect(found[0].samples.first { $0.name.hasSuffix("_count") }?.value == 4)
    #expect(abs((found[0].samples.first { $0.name.hasSuffix("_sum") }?.value ?? 0) - 7.65) < 1e-9)
  }
}
