/// A plot of numbers over time, drawn by the server.
struct Plot {
  let title: String
  let name: String
  /// The numbers of one stretch each; nil where there is none.
  var bars: [Double?] = []
  /// A second row of numbers, drawn as a line above the bars.
  var line: [Double?] = []
  let word: (Double) -> String

  private static let (width, height) = (600, 96)

  func values(labels: [String]) -> Values {
    let all = (bars + line).compactMap(\.self)
    let top = max(all.max() ?? 0, 0.001)
    let step = Double(Self.width) / Double(max(1, bars.count))
    func height(_ value: Double) -> Int { value <= 0 ? 0 : max(2, Int(value / top * Double(Self.height))) }
    let rectangles = bars.enumerated().compactMap { index, value -> Values? in
      guard let value, value > 0 else { return nil }
      return [
        "x": Int(Double(index) * step) + 1, "y": Self.height - height(value), "width": max(2, Int(step) - 3),
        "height": height(value),
      ]
    }
    let points = line.enumerated().compactMap { index, value in
      value.map { "\(Int((Double(index) + 0.5) * step)),\(Self.height - height($0))" }
    }
    return [
      "title": title, "name": name, "width": Self.width, "height": Self.height, "bars": rectangles,
      "points": points.joined(separator: " "), "hasLine": !line.isEmpty, "isEmpty": all.allSatisfy { $0 == 0 },
      "top": word(top), "first": labels.first ?? "", "last": labels.last ?? "",
      "rows": bars.indices.reversed().compactMap { index -> Values? in
        let second = line.indices.contains(index) ? line[index] : nil
        guard let value = bars[index], value > 0 || second != nil else { return nil }
        return [
          "label": labels[index], "value": word(value), "hasSecond": !line.isEmpty, "second": second.map(word) ?? "",
        ]
      },
    ]
  }
}
