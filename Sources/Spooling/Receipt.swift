import DurableFiles
import FoundationEssentials
import Messages

/// A finished request's `sent/NAME/receipt.json`: no photo, no text, no key.
package struct Receipt: Decodable, Sendable, Equatable {
  package struct Message: Decodable, Sendable, Equatable {
    package let message: String
    package let kind: MessageKind
    package let state: MessageState
    package let publishedAt: String?
    /// The network's own id of the message, if it gives one.
    package let remote: String?
    package let url: String?
    package let contentDigest: String?
    /// The size of the photo as sent, or of the text, in bytes.
    package let bytes: Int
    package let width: Int?
    package let height: Int?

    package init(
      message: String, kind: MessageKind, state: MessageState, publishedAt: String?, remote: String?, url: String?,
      contentDigest: String?, bytes: Int, width: Int?, height: Int?
    ) {
      self.message = message
      self.kind = kind
      self.state = state
      self.publishedAt = publishedAt
      self.remote = remote
      self.url = url
      self.contentDigest = contentDigest
      self.bytes = bytes
      self.width = width
      self.height = height
    }
  }

  package let request: String
  package let conversation: String
  package let inbox: String
  /// The idempotency key and the digest of the contents, so that a rebuilt ledger recognises duplicates.
  package let id: String?
  package let digest: String?
  package let state: RequestState
  package let duplicateOf: String?
  package let acceptedAt: String
  package let finishedAt: String
  package let messages: [Message]

  package init(
    request: String, conversation: String, inbox: String, id: String? = nil, digest: String? = nil,
    state: RequestState, duplicateOf: String?, acceptedAt: String, finishedAt: String, messages: [Message]
  ) {
    self.request = request
    self.conversation = conversation
    self.inbox = inbox
    self.id = id
    self.digest = digest
    self.state = state
    self.duplicateOf = duplicateOf
    self.acceptedAt = acceptedAt
    self.finishedAt = finishedAt
    self.messages = messages
  }

  package static let fileName = "receipt.json"

  /// Reads the output of `encoded`; nil for anything else.
  package init?(_ bytes: [UInt8]) {
    guard let receipt = try? JSONDecoder().decode(Receipt.self, from: Data(bytes)) else { return nil }
    self = receipt
  }

  /// The receipt in a request's directory; nil if there is no readable one.
  package init?(in request: Directory) throws {
    guard try request.entry(Self.fileName)?.kind == .file,
      let bytes = try request.file(Self.fileName).contents(limit: 1 << 20)
    else { return nil }
    self.init(bytes)
  }

  /// One indented object with sorted names and a final newline, without unknown values.
  package func encoded() -> [UInt8] {
    let text: JSONObjectText = [
      "acceptedAt": acceptedAt, "conversation": conversation, "digest": digest, "duplicateOf": duplicateOf,
      "finishedAt": finishedAt, "id": id, "inbox": inbox, "messages": messages.map(\.text), "request": request,
      "state": state.rawValue,
    ]
    return text.indentedBytes + [UInt8(ascii: "\n")]
  }
}

extension Receipt.Message {
  fileprivate var text: JSONObjectText {
    [
      "bytes": bytes, "contentDigest": contentDigest, "height": height, "kind": kind.rawValue, "message": message,
      "publishedAt": publishedAt, "remote": remote, "state": state.rawValue, "url": url, "width": width,
    ]
  }
}
