import Matrix
import Messages
import Testing

@testable import Networks

struct FieldMapTests {
  private let photo = Messages.Attachment("https://example.test/o", isSealed: true)

  private func fields(_ json: String, _ content: OutgoingMessage.Content) throws -> [String: JSONValue] {
    try #require(FieldMap(json)).filled(with: OutgoingMessage("m1", content)).fields
  }

  @Test("the seed's fields of a photo and of a text")
  func seed() throws {
    let map = FirestoreNetworkType().fields
    let (photo, times) = map.filled(with: OutgoingMessage("m1", .photo(photo)))
    #expect(times == ["timestamp"])
    let attachment: [String: JSONValue] = [
      "id": .text("m1"), "type": .text("image"), "url": .text("https://example.test/o"),
      "thumbnailURL": .text("https://example.test/o"), "sizeBytes": .whole(9),
    ]
    #expect(
      photo == ["senderId": .text("me"), "status": .text("sent"), "attachments": .list([.object(attachment)])])
    let text = map.filled(with: OutgoingMessage("m2", .text("hello"))).fields
    #expect(
      text == [
        "senderId": .text("me"), "status": .text("sent"), "text": .text("hello"), "attachments": .list([]),
      ])
  }

  @Test("constants keep their types, and placeholders within a text are inserted")
  func values() throws {
    let json = #"{"a":1,"b":1.5,"c":true,"d":null,"e":["x",2],"f":"{width}x{height} of {inbox}","g":"{width}","h":""}"#
    #expect(
      try fields(json, .photo(photo)) == [
        "a": .whole(1), "b": .number(1.5), "c": .flag(true), "d": .null, "e": .list([.text("x"), .whole(2)]),
        "f": .text("3x4 of me"), "g": .whole(3), "h": .text(""),
      ])
  }

  @Test("a map is left out of a message whose kind lacks anything in it, and what a seal lacks is left out alone")
  func leftOut() throws {
    let json = #"{"image":{"url":"{url}","fixed":1,"hash":"{blurhash}","key":"{secret}"},"note":"says {text}"}"#
    #expect(try fields(json, .text("hi")) == ["note": .text("says hi")])
    let image = try #require(try fields(json, .photo(photo))["image"])
    #expect(image == .object(["url": .text(photo.url), "fixed": .whole(1), "key": .text("s")]))
    let open = Messages.Attachment("https://example.test/o", isSealed: false)
    #expect(try fields(json, .photo(open)) == ["image": .object(["url": .text(photo.url), "fixed": .whole(1)])])
  }

  @Test("the server's time goes into maps, and paths of odd names are quoted")
  func times() throws {
    let map = try #require(FieldMap(#"{"last":{"at":"{time}","id":"{message}"},"a.b`c":"{time}","ok_1":"{time}"}"#))
    let (values, times) = map.filled(with: OutgoingMessage("m1"))
    #expect(values == ["last": .object(["id": .text("m1")])])
    #expect(times == ["`a.b\\`c`", "last.at", "ok_1"])
  }

  @Test(
    "a map that Firestore would refuse, or with unknown placeholders, is none",
    arguments: [
      "", "[]", #""x""#, #"{"a":"{nothing}"}"#, #"{"a":"{url"}"#, #"{"a":["{time}"]}"#, #"{"a":[{"b":"{time}"}]}"#,
      #"{"a":[[1]]}"#, #"{"a":[1e999]}"#, #"{"":1}"#, #"{"__a__":1}"#, #"{"photospool":1}"#,
      #"{"a":"at {time}"}"#, String(repeating: #"{"a":"#, count: 20) + "1" + String(repeating: "}", count: 20),
    ])
  func invalid(json: String) { #expect(FieldMap(json) == nil) }

  @Test(
    "a collection's path begins and ends with a collection, and a conversation is one id in it",
    arguments: [
      ("messages", true), ("conversations/{conversation}/messages", true), ("a/b/c/d/e", true), ("a/b", false),
      ("a//c", false), ("", false), ("a/../c", false), ("a/__x__/c", false), ("a/{inbox}/c", false), ("a/{/c", false),
      ("room-{conversation}", true),
    ])
  func collections(path: String, isValid: Bool) { #expect((CollectionPath(path) != nil) == isValid) }

  @Test(
    "a conversation whose name Firestore does not take for an id has no collection",
    arguments: [("family", true), ("fam ily é", true), ("a/b", false), ("..", false), ("__a__", false)])
  func conversations(name: String, isValid: Bool) {
    let filled = CollectionPath.standard.filled(with: Address(unchecked: name))
    #expect(filled == (isValid ? "conversations/\(name)/messages" : nil))
  }

  @Test(
    "times of Firestore have any number of digits",
    arguments: [
      ("2026-11-26T11:38:38.015781Z", "2026-11-26T11:38:38.015Z"), ("2026-11-26T11:38:37Z", "2026-11-26T11:38:37.000Z"),
      ("2026-11-26T11:38:37.8Z", "2026-11-26T11:38:37.800Z"), ("yesterday", nil), ("2026-11-26T11:38:37.8+01:00", nil),
    ])
  func timestamps(text: String, expected: String?) {
    #expect(Timestamp(firestore: text)?.description == expected)
  }
}
