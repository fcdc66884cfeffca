import DurableFiles
import FoundationEssentials
import Messages

/// What is left in `sent/NAME/receipt.json` of a request that is over: no photo, no text, no key.
public struct Receipt: Codable, Sendable, Equatable {
  public struct Message: Codable, Sendable, Equatable {
    public let message: String
    public let kind: MessageKind
    public let state: MessageState
    public let publishedAt: String?
    /// The network's own id of the message, where it gives one.
    public let remote: String?
    public let url: String?
    public let contentDigest: String?
    /// Bytes, of the photo as it was sent or of the text.
    public let bytes: Int
    public let width: Int?
    public let height: Int?

    public init(
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

  public let request: String
  public let conversation: String
  public let inbox: String
  /// The idempotency key, and the digest of what was sent under it: a ledger that is rebuilt still knows the repetition.
  public let id: String?
  public let digest: String?
  public let state: RequestState
  public let duplicateOf: String?
  public let acceptedAt: String
  public let finishedAt: String
  public let messages: [Message]

  public init(
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

  public static let fileName = "receipt.json"

  /// Reads what `encoded` wrote; nil for anything else.
  public init?(_ bytes: [UInt8]) {
    guard let receipt = try? JSONDecoder().decode(Receipt.self, from: Data(bytes)) else { return nil }
    self = receipt
  }

  /// The file's bytes: one object, indented for people, with a newline at the end.
  public func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try Array(encoder.encode(self)) + [UInt8(ascii: "\n")]
  }
}
