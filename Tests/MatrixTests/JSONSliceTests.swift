import Testing

@testable import Matrix

@Suite struct JSONSliceTests {
  private func slice(_ text: String) -> JSONSlice? { JSONSlice(Array(text.utf8)) }

  @Test func membersAndElementsAreFoundInTheirOrder() throws {
    let value = try #require(slice(#" {"a" : [1, "]", {"b": "\"}"}], "c\u0041":true,"a":null} "#))
    #expect(value.members.map(\.name) == ["a", "cA", "a"])
    let elements = try #require(value["a"]).elements
    #expect(elements.count == 3)
    #expect(elements[1].decoded(as: String.self) == "]")
    #expect(elements[2]["b"]?.decoded(as: String.self) == "\"}")
    #expect(value["cA"]?.decoded(as: Bool.self) == true)
    #expect(slice("[]")?.elements.isEmpty == true && slice("{}")?.members.isEmpty == true)
    #expect(slice("7")?.decoded(as: Int.self) == 7 && slice("7")?.members.isEmpty == true)
  }

  @Test(arguments: [
    "", " ", "{", "[", "\"", "\"\\", "}", "]", "{}}", "[] []", "{\"a\":1", ",", ":", "<html></html> <p>", "1 2",
  ])
  func whatIsNotOneValueIsNone(_ text: String) { #expect(slice(text) == nil) }

  @Test(arguments: ["{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "[,]", "{,}", "{\"a\":1 \"b\":2}", "{\"\\x\":1}"])
  func whatIsWrongInsideEndsWhatIsFound(_ text: String) throws {
    let value = try #require(slice(text))
    #expect(value.members.count + value.elements.count <= 1)
  }

  @Test func depthCostsNothing() throws {
    let depth = 1_000_000
    let text = "[1," + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + ",2]"
    let elements = try #require(slice(text)).elements
    #expect(elements.count == 3 && elements[2].decoded(as: Int.self) == 2)
    #expect(elements[1].decoded(as: JSONValue.self) == nil)
  }

  @Test func aValueIsWrittenInOneWay() throws {
    let value = try #require(slice(#"{"b": [1, 2.5, "x", null, true], "a": {"d": 1, "c": -0.5}}"#))
    let decoded = try #require(value.decoded(as: JSONValue.self))
    #expect(
      decoded["a"]?["c"] == .number(-0.5)
        && decoded["b"] == .list([.whole(1), .number(2.5), .text("x"), .null, .flag(true)]))
  }
}
