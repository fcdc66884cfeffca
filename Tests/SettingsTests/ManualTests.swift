import Foundation
import Testing

@testable import Settings

/// `docs/man/photospool.yaml.5`, which people read.
struct ManualTests {
  @Test("the manual has every setting, once and with its default")
  func hasEverySetting() throws {
    let path =
      URL(fileURLWithPath: SampleFileTests.path).deletingLastPathComponent().deletingLastPathComponent().path
      + "/docs/man/photospool.yaml.5"
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    let described = lines.compactMap { line in
      line.wholeMatch(of: /\.It Cm ([A-Za-z.]+) : (.*)/).map { "\($0.output.1): \($0.output.2)" }
    }
    let settings = SettingsSchema.settings.map { setting in
      "\(setting.key): \(setting.defaultText.isEmpty ? #"\(dq\(dq"# : setting.defaultText)"
    }
    #expect(Set(settings).subtracting(described) == [], "not in the manual as they are")
    #expect(Set(described).subtracting(settings) == [], "in the manual alone")
    #expect(Set(described).count == described.count)
  }
}
