import Foundation
import SettingKit
import TestSupport
import Testing

@testable import Settings

struct SampleFileTests {
  static let path =
    URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path + "/etc/photospool.yaml"

  /// The file with every commented setting enabled.
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

  @Test("the examples of the sample file are a configuration")
  func examples() throws {
    let lines = try String(contentsOfFile: Self.path, encoding: .utf8)
      .split(separator: "\n").filter { $0.hasPrefix("#   ") }.map { $0.dropFirst(4) }
    let scratch = try TemporaryDirectory()
    let file = scratch.path("photospool.yaml")
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
    let settings = try Settings.load(file: file, fileIsExplicit: true, environment: [:], flags: [:])
    #expect(settings.stores.map(\.name) == ["directory", "media"])
    #expect(settings.networks.map(\.name) == ["local", "work"])
    #expect(settings.routes.count == 2)
  }

  @Test("the sample file explains every setting, with its bounds, and nothing else")
  func explains() throws {
    let comments = try comments()
    let settings = Dictionary(uniqueKeysWithValues: SettingsSchema.settings.map { ($0.key, $0) })
    #expect(Set(comments.keys) == Set(settings.keys))
    for (key, comment) in comments {
      #expect(!comment.isEmpty, "\(key)")
      if let bounds = settings[key]?.bounds { #expect(comment.contains(bounds), "\(key): \(bounds)") }
    }
  }

  /// The comments before a setting and before its section, by key.
  private func comments() throws -> [String: String] {
    var comments = [String: String]()
    var sections = [(name: Substring, comment: String)]()
    var comment = ""
    for line in try String(contentsOfFile: Self.path, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    {
      if let text = line.wholeMatch(of: /\ *# (.*)/) {
        comment += " " + text.output.1
      } else if let key = line.wholeMatch(of: /(\ *)(#?)([a-zA-Z]+):.*/) {
        sections.removeLast(sections.count - key.output.1.count / 2)
        let name = key.output.3
        if key.output.2.isEmpty {
          sections.append((name, comment))
        } else {
          let path = (sections.map(\.name) + [name]).joined(separator: ".")
          comments[path] = sections.map(\.comment).joined() + comment
        }
        comment = ""
      } else {
        comment = ""
      }
    }
    return comments
  }
}

extension Setting {
  /// The bounds as documented; nil without them, or if they are very wide.
  var bounds: String? {
    guard let range = expects.firstMatch(of: /from ([^ ]+)(?: bytes)? to ([^ ,]+)/), range.output.2 != "1000TB" else {
      return nil
    }
    return "\(range.output.1) to \(range.output.2)"
  }
}
