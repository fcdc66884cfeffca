import Foundation
import Testing

@testable import Settings

struct ManualTests {
  private static let path =
    URL(fileURLWithPath: SampleFileTests.path).deletingLastPathComponent().deletingLastPathComponent().path
    + "/docs/man/photospool.yaml.5"

  @Test("the manual has every setting, once and with its default")
  func hasEverySetting() throws {
    let lines = try String(contentsOfFile: Self.path, encoding: .utf8).split(separator: "\n")
    // A long default has places to break at.
    let described = lines.compactMap { line in
      line.replacing(#"\:"#, with: "").wholeMatch(of: /\.It Cm ([A-Za-z.]+) : (.*)/).map {
        "\($0.output.1): \($0.output.2)"
      }
    }
    let settings = SettingsSchema.settings.map { setting in
      "\(setting.key): \(setting.defaultText.isEmpty ? #"\(dq\(dq"# : setting.defaultText)"
    }
    #expect(Set(settings).subtracting(described) == [], "not in the manual as they are")
    #expect(Set(described).subtracting(settings) == [], "in the manual alone")
    #expect(Set(described).count == described.count)
  }
  @Test("the manual has the bounds of every setting")
  func hasBounds() throws {
    let text = try String(contentsOfFile: Self.path, encoding: .utf8)
    for setting in SettingsSchema.settings {
      guard let bounds = setting.bounds, let begin = text.firstRange(of: ".It Cm \(setting.key) : ") else { continue }
      // The introduction of a section applies to all its settings.
      let section = text[..<begin.lowerBound].components(separatedBy: "\n.Ss ").last ?? ""
      let introduction = section.components(separatedBy: "\n.It ").first ?? ""
      let item = text[begin.upperBound...].components(separatedBy: "\n.It ").first ?? ""
      #expect((introduction + item).contains(bounds), "\(setting.key): \(bounds)")
    }
  }
}
