import FoundationEssentials
import Testing

@testable import Matrix

@Suite struct JSONValueTests {
  private func value(_ text: String, depth: Int = 64) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: Data(JSONValue.text(Array(text.utf8), cutAt: depth)))
  }

  @Test func numbersAndTextsAreKept() throws {
    let value = try value(#"{"b": [1, 2.5, "x", null, true, 9007199254740993], "a": {"d": 1, "c": -0.5}}"#)
    #expect(
      value["a"]?["c"] == .number(-0.5)
        && value["b"]?.elements == [
          .whole(1), .number(2.5), .text("x"), .null, .flag(true), .whole(9_007_199_254_740_993),
        ])
    #expect(value.elements.isEmpty && value["b"]?.members.isEmpty == true)
  }

  @Test func anElementThatCannotBeDecodedSpoilsNoOther() throws {
    #expect(try value(#"[1, {"a": 1e999}, 2]"#).elements == [.whole(1), .null, .whole(2)])
  }

  @Test(arguments: [
    (#"[1,[2,[3,[4]]],"]",{"a":{"b":{}}}]"#, #"[1,[2,[]],"]",{"a":{}}]"#),
    (#"{"a":["\\\"]","x"]}"#, #"{"a":["\\\"]","x"]}"#),
    (#"[[["\"]"]],[]]"#, "[[[]],[]]"), ("]]", "]]"), ("", ""),
  ])
  func deeperValuesAreCut(_ text: String, _ cut: String) {
    #expect(String(decoding: JSONValue.text(Array(text.utf8), cutAt: 2), as: UTF8.self) == cut)
  }

  @Test func depthCostsNothing() throws {
    let depth = 1_000_000
    let text = "[1," + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + ",2]"
    #expect(try value(text, depth: 1).elements == [.whole(1), .list([]), .whole(2)])
  }
}
