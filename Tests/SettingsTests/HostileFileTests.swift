import Foundation
import SettingKit
import TestSupport
import Testing

@testable import Settings

/// Files that would cost a careless reader all memory, the stack or minutes.
struct HostileFileTests {
  private func problems(_ text: String) throws -> [String] { try settingsProblems(text) }

  @Test("a file of more than 1 MiB is not read")
  func largeFile() throws {
    let line = "# nothing in here\n"
    let fitting = String(repeating: line, count: SettingsFile.limit / line.utf8.count)
    #expect(try problems(fitting).isEmpty)
    #expect(try problems(fitting + line) == ["f: the file is larger than 1MiB; is it the right one?"])
  }

  @Test("an endless file is not read to its end")
  func endlessFile() throws {
    let error = #expect(throws: SettingsError.self) {
      try Settings.load(file: "/dev/zero", fileIsExplicit: true, environment: [:], flags: [:])
    }
    #expect(error?.description == "/dev/zero: the file is larger than 1MiB; is it the right one?")
  }

  @Test("deep nesting is refused", arguments: ["[", "{", "- ", "? "])
  func deepNesting(opening: String) throws {
    let text = "inbox:\n  " + String(repeating: opening, count: 200_000)
    #expect(try problems(text) == ["f:2: the sections and lists lie too deep in one another"])
  }

  @Test("a wide list is one problem")
  func wideList() throws {
    let told = try problems("inbox: [" + String(repeating: "a,", count: 400_000) + "a]")
    #expect(told.count == 1)
  }

  @Test("only the first of many repeated keys is reported")
  func repeatedKeys() throws {
    let told = ["f:2: `a0` is set again; line 1 has it already"]
    #expect(try problems((0..<1000).map { "a\($0): 1\na\($0): 2\n" }.joined()) == told)
    #expect(
      try problems(String(repeating: "inbox: x\n", count: 1000)) == ["f:2: `inbox` is set again; line 1 has it already"]
    )
  }

  @Test("a key that is repeated inside braces is reported with the line of the braces")
  func repeatedKeyInBraces() throws {
    #expect(try problems("log:\n  {level: info, level: debug}\n") == ["f:2: `level` is set more than once"])
  }

  @Test("an anchor is reported wherever it stands, and a `&` in an address is no anchor")
  func anchors() throws {
    for text in ["inbox: &a b", "&a inbox: b", "inbox: [&a b]", "- &a b", "{\"inbox\":&a b}", "photo: !!map &a {}"] {
      #expect(try problems(text) == ["f:1: `&a` is an anchor; this file may not use anchors and aliases"])
    }
    #expect(try problems("# R&D, this &that\ninbox: R&D & friends\n").isEmpty)
  }

  @Test("more than a hundred stores are not looked at")
  func manyStores() throws {
    let text = "stores:\n" + (0..<20_000).map { "  s\($0): {directory: /srv/\($0)}\n" }.joined()
    #expect(try problems(text) == ["f:2: `stores` has more than 100 stores"])
  }

  @Test("more than a thousand routes are not looked at")
  func manyRoutes() throws {
    let text = "routes:\n" + (0..<20_000).map { "- {conversation: c\($0), network: local}\n" }.joined()
    #expect(try problems(text) == ["f:1: `routes` has more than 1000 routes"])
  }

  @Test("a route of very many patterns is read in no time")
  func manyPatterns() throws {
    let patterns = (0..<60_000).map { "\"*a\($0)*\"" }.joined(separator: ",")
    #expect(try problems("routes:\n- {conversation: [\(patterns)], network: local}\n").isEmpty)
  }
}
