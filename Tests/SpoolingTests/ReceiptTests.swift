import Foundation
import Spooling
import Testing

@Suite struct ReceiptTests {
  private func receipt(_ messages: [Receipt.Message], conversation: String = "c", id: String? = nil) -> Receipt {
    Receipt(
      request: "r", conversation: conversation, inbox: "me", id: id, digest: id.map { _ in "d" }, state: .sent,
      duplicateOf: id, acceptedAt: "2026-01-02T03:04:05.000Z", finishedAt: "2026-01-02T03:04:06.000Z",
      messages: messages)
  }

  private let text = Receipt.Message(
    message: "m1", kind: .text, state: .sent, publishedAt: nil, remote: nil, url: nil, contentDigest: nil, bytes: 5,
    width: nil, height: nil)
  private let photo = Receipt.Message(
    message: "m0", kind: .photo, state: .sent, publishedAt: "2026-01-02T03:04:05.500Z", remote: "$e",
    url: "https://x/y",
    contentDigest: "ab", bytes: 9, width: 4, height: 3)

  @Test func isReadByPeople() {
    #expect(
      String(decoding: receipt([text]).encoded(), as: UTF8.self) == """
        {
          "acceptedAt" : "2026-01-02T03:04:05.000Z",
          "conversation" : "c",
          "finishedAt" : "2026-01-02T03:04:06.000Z",
          "inbox" : "me",
          "messages" : [
            {
              "bytes" : 5,
              "kind" : "text",
              "message" : "m1",
              "state" : "sent"
            }
          ],
          "request" : "r",
          "state" : "sent"
        }

        """)
  }

  @Test("Any decoder reads it, whatever the texts", arguments: ["c", "a\"b\\c/d", "\u{1b}[2J\n\u{85}\u{2028}", "é😀"])
  func isReadByPrograms(_ conversation: String) throws {
    for messages in [[], [text], [photo, text]] {
      let receipt = receipt(messages, conversation: conversation, id: conversation)
      #expect(Receipt(receipt.encoded()) == receipt)
      let object = try JSONSerialization.jsonObject(with: Data(receipt.encoded())) as? [String: Any]
      #expect(object?["conversation"] as? String == conversation)
      #expect((object?["messages"] as? [[String: Any]])?.count == messages.count)
    }
  }

  @Test func namesStandInOrder() throws {
    let lines = String(decoding: receipt([photo], id: "k").encoded(), as: UTF8.self).split(separator: "\n")
    for indent in ["  \"", "      \""] {
      let names = lines.filter { $0.hasPrefix(indent) }.map { $0.prefix { $0 != ":" } }
      #expect(names == names.sorted() && names.count == 10)
    }
  }
}
