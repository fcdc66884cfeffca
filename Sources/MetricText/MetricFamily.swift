/// A metric with its samples, in Prometheus' text format 0.0.4. Each name must be written once.
package struct MetricFamily: Sendable, Equatable {
  package enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  package struct Sample: Sendable, Equatable {
    let suffix: String
    let labels: [Label]
    let value: Double
  }

  package struct Label: Sendable, Equatable {
    let name: String
    let value: String
  }

  package let name: String
  package let kind: Kind
  package let help: String
  package let samples: [Sample]
}

extension MetricFamily {
  /// - Parameters:
  ///   - name: in base units, seconds and bytes; counters end in `_total`.
  ///   - help: one sentence.
  package init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
    self.init(name: name, kind: kind, help: help, samples: [Sample(suffix: "", labels: [], value: value)])
  }

  /// A sample for each value of a label.
  package init(_ name: String, _ kind: Kind, _ help: String, by label: String, _ values: [String: Double]) {
    let samples = values.sorted { $0.key < $1.key }.map {
      Sample(suffix: "", labels: [Label(name: label, value: $0.key)], value: $0.value)
    }
    self.init(name: name, kind: kind, help: help, samples: samples)
  }

  /// A histogram for each value of a label.
  package init(_ name: String, _ help: String, by label: String, _ histograms: [String: Histogram]) {
    let samples = histograms.sorted { $0.key < $1.key }.flatMap { value, histogram in
      histogram.samples([Label(name: label, value: value)])
    }
    self.init(name: name, kind: .histogram, help: help, samples: samples)
  }

  package var text: String {
    var text = "# HELP \(name) \(Self.escape(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    for sample in samples {
      let labels = sample.labels.map { "\($0.name)=\"\(Self.escape($0.value, quotes: true))\"" }
      let braces = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
      text += "\(name)\(sample.suffix)\(braces) \(Self.number(sample.value))\n"
    }
    return text
  }

  private static func escape(_ text: String, quotes: Bool) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  static func number(_ value: Double) -> String {
    if value == .infinity { return "+Inf" }
    return value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
  }
}
