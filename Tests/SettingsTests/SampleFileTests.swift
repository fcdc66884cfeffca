import Foundation
import TestSupport
import Testing

@testable import Settings

/// `etc/photospool.yaml`, which people start from.
struct SampleFileTests {
  static let path =
    URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path + "/etc/photospool.yaml"

  /// The file with every setting that is commented out put in force.
  private func inForce() throws -> String {
    try String(contentsOfFile: Self.path, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.replacing(/^( *)#([a-zA-Z]+:)/) { "\($0.output.1)\($0.output.2)" } }
      .joined(separator: "\n")
  }

  @Test("the sample file is a configuration that sets nothing")
  func setsNothing() throws {
    let values = try FileValues(path: Self.path, isExplicit: true)
    #expect(values.problems == [])
    #expect(values.values.isEmpty)
  }

  @Test("the sample file has every setting, at its default")
  func hasEverySetting() throws {
    let values = FileValues(text: try inForce(), path: "photospool.yaml")
    #expect(values.problems == [])
    for setting in SettingsSchema.settings {
      #expect(values.values[setting.key]?.text == setting.defaultText, "\(setting.key)")
    }
  }

  @Test("what the sample file gives for example is a configuration")
  func examples() throws {
    let lines = try String(contentsOfFile: Self.path, encoding: .utf8)
      .split(separator: "\n").filter { $0.hasPrefix("#   ") }.map { $0.dropFirst(4) }
    let scratch = try TemporaryDirectory()
    let file = scratch.path("photospool.yaml")
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
    let settings = try Settings.load(file: file, fileIsExplicit: true, environment: [:], flags: [:])
    #expect(settings.stores.map(\.name) == ["directory", "archive"])
    #expect(settings.networks.map(\.name) == ["local", "work"])
    #expect(settings.routes.count == 2)
  }

  @Test("the sample file explains every setting")
  func explains() throws {
    let lines = try String(contentsOfFile: Self.path, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
    for (before, line) in zip(lines, lines.dropFirst()) where line.contains(/^ *#[a-zA-Z]+:/) {
      #expect(before.contains(/^ *#[ ]/), "\(line)")
    }
  }
}
