import Foundation
import SettingKit
import Testing

@testable import Settings

/// The gallery: each file of `BadConfigurations/` with its exact sentences.
struct BadConfigurationTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/BadConfigurations/"

  static let names: [String] = {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()
  }()

  @Test("the gallery is there")
  func galleryIsThere() { #expect(Self.names.count >= 15) }

  @Test("every broken configuration is refused with exactly its sentences", arguments: names)
  func sentences(name: String) throws {
    let expected = try String(contentsOfFile: Self.folder + name + ".expected", encoding: .utf8)
    let error = #expect(throws: SettingsError.self) {
      try Settings.load(file: Self.folder + name + ".yaml", fileIsExplicit: true, environment: [:], flags: [:])
    }
    let told = error.map { $0.description.replacing(Self.folder, with: "") + "\n" }
    #expect(told == expected)
  }
}
