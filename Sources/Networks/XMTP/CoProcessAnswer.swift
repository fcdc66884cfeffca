import FoundationEssentials
import Messages

/// One line of a co-process: the answer to the request of that id.
struct CoProcessAnswer {
  let id: Int
  let outcome: Result<Facts, DeliveryError>

  /// What an answer can tell; every verb has its own members.
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

  /// A message that somebody sent.
  struct HeardMessage: Decodable, Sendable {
    let conversation: String
    let message: String
    /// The inbox id of who sent it.
    let sender: String?
    /// As it was encoded, in base64.
    let content: String
  }

  /// A published photo, in the parameters of XMTP's remote attachment.
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

  /// What a program that speaks to a network can know of. The other causes are found elsewhere.
  private static let causes: Set<Cause> = [
    .unreachable, .network, .timeout, .serverBusy, .rateLimited, .conflict, .localStorageFull, .localStorageError,
    .authExpired,
    .configError, .forbidden, .roomGone, .rejected,
  ]

  /// Reads a line; nil when it is no answer.
  init?(_ line: [UInt8]) {
    guard let members = try? JSONDecoder().decode(Members.self, from: Data(line)) else { return nil }
    id = members.id
    switch (members.ok, members.error) {
    case (let facts?, nil): outcome = .success(facts)
    case (nil, let fault?) where Self.causes.contains(fault.cause):
      outcome = .failure(DeliveryError(fault.cause, printable(fault.sentence)))
    default: return nil
    }
  }
}
