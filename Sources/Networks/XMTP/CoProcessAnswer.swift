import FoundationEssentials
import Messages

/// A line of a co-process: the answer to the request of that id.
struct CoProcessAnswer {
  let id: Int
  let outcome: Result<Facts, DeliveryError>

  /// The members of all verbs' answers.
  struct Facts: Decodable, Sendable {
    var reserved: String?
    var publishedAt: Int64?
    var attachment: SentAttachment?
    var inbox: String?
    var address: String?
    var reachable: Bool?
    var conversation: Bool?
    var obstacle: String?
    var heard: [HeardMessage]?
    var position: String?
    var appData: String?
  }

  /// A received message.
  struct HeardMessage: Decodable, Sendable {
    let conversation: String
    let message: String
    /// The sender's inbox id.
    let sender: String?
    /// The encoded content, in base64.
    let content: String
  }

  /// A published photo, with the parameters of XMTP's remote attachment.
  struct SentAttachment: Decodable, Sendable {
    let url: String
    let contentDigest: String
    let secret: String
    let salt: String
    let nonce: String
    let scheme: String
    let contentLength: Int
    let filename: String
  }

  private struct Members: Decodable {
    struct Fault: Decodable {
      let cause: Cause
      let sentence: String
    }

    let id: Int
    let ok: Facts?
    let error: Fault?
  }

  /// The causes that a co-process may report.
  private static let causes: Set<Cause> = [
    .unreachable, .network, .timeout, .serverBusy, .rateLimited, .conflict, .localStorageFull, .localStorageError,
    .authExpired,
    .configError, .forbidden, .roomGone, .rejected,
  ]

  /// Parses a line; nil if it is invalid.
  init?(_ line: [UInt8]) {
    guard let members = try? JSONDecoder().decode(Members.self, from: Data(line)) else { return nil }
    id = members.id
    switch (members.ok, members.error) {
    case (let facts?, nil): outcome = .success(facts)
    case (nil, let fault?) where Self.causes.contains(fault.cause):
      outcome = .failure(DeliveryError(fault.cause, escaped(fault.sentence, limit: 500)))
    default: return nil
    }
  }
}
