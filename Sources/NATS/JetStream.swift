import Clusters
import FoundationEssentials
import Messages

/// JetStream's verbs: JSON in requests. All answers are bounded by libnats and by `mostBytes`.
struct JetStream: Sendable {
  struct Stored: Sendable {
    let subject: String
    let position: UInt64
    let bytes: [UInt8]
  }

  /// The limit for an answer of JSON, in bytes. A message of a stream comes in base64.
  private static let mostBytes = 4 << 20

  let connection: Connection

  // MARK: Messages

  /// Appends to a stream, after the servers have it on their disks.
  ///
  /// - Parameter headers: pairs of name and value.
  func append(
    _ bytes: [UInt8], to subject: String, of stream: String, headers: [String] = []
  ) async throws(JetStreamFault) -> UInt64 {
    struct Stored: Decodable {
      let stream: String
      let seq: UInt64
    }
    let stored = try await answer(
      to: subject, headers: ["Nats-Expected-Stream", stream] + headers, bytes, as: Stored.self, within: .seconds(5))
    guard stored.stream == stream, stored.seq > 0 else { throw .malformed }
    return stored.seq
  }

  /// The last message of a subject; nil if there is none. The stream's leader answers, so nil is certain.
  func last(of subject: String, in stream: String) async throws(JetStreamFault) -> Stored? {
    try await message("{\"last_by_subj\":\"\(subject)\"}", of: stream)
  }

  /// The first message at or behind a position whose subject fits.
  func next(from position: UInt64, of subject: String, in stream: String) async throws(JetStreamFault) -> Stored? {
    try await message("{\"seq\":\(position),\"next_by_subj\":\"\(subject)\"}", of: stream)
  }

  private func message(_ wanted: String, of stream: String) async throws(JetStreamFault) -> Stored? {
    struct Answer: Decodable {
      struct Message: Decodable {
        let subject: String
        let seq: UInt64
        let data: Data?
      }
      let message: Message
    }
    let answer = try await found("STREAM.MSG.GET.\(stream)", wanted, as: Answer.self, absent: [10037])
    guard let message = answer?.message else { return nil }
    return Stored(subject: message.subject, position: message.seq, bytes: message.data.map(Array.init) ?? [])
  }

  /// The last message of a subject from any server that has it; nil also if that server does not have it yet.
  func anyLast(of subject: String, in stream: String) async throws(JetStreamFault) -> [UInt8]? {
    let reply: Reply
    do { reply = try await connection.request("$JS.API.DIRECT.GET.\(stream).\(subject)") } catch {
      throw .request(error)
    }
    return reply.status == 0 && reply.origin == subject ? reply.bytes : nil
  }

  func purge(_ subject: String, of stream: String) async throws(JetStreamFault) {
    _ = try await api("STREAM.PURGE.\(stream)", "{\"filter\":\"\(subject)\"}", as: Done.self)
  }

  // MARK: Streams

  func streams() async throws(JetStreamFault) -> Set<String> {
    struct Page: Decodable {
      let total: Int
      let streams: [String]?
    }
    var names: Set<String> = []
    while true {
      let page = try await api("STREAM.NAMES", "{\"offset\":\(names.count)}", as: Page.self)
      let before = names.count
      names.formUnion(page.streams ?? [])
      if names.count == before || names.count >= page.total || names.count > 10_000 { return names }
    }
  }

  func create(_ stream: StreamSettings) async throws(JetStreamFault) {
    struct Created: Decodable { let config: StreamSettings.Found }
    // 10058: another host made it, or an operator changed its limits.
    _ = try await found(
      "STREAM.CREATE.\(stream.name)", stream.json, as: Created.self, absent: [10058], within: .seconds(20))
  }

  /// A stream, and how its servers are; nil if there is none. Nobody answers while the stream has no leader.
  func stream(
    _ name: String, within limit: Duration = .seconds(5)
  ) async throws(JetStreamFault) -> StreamSettings.Info? {
    try await found("STREAM.INFO.\(name)", "", as: StreamSettings.Info.self, absent: [10059], within: limit)
  }

  // MARK: Consumers

  func consumers(of stream: String) async throws(JetStreamFault) -> [String] {
    struct Page: Decodable { let consumers: [String]? }
    return try await api("CONSUMER.NAMES.\(stream)", "", as: Page.self).consumers ?? []
  }

  /// Makes the stream's only consumer.
  ///
  /// - Returns: false if it has another one.
  func createConsumer(_ name: String, of stream: String) async throws(JetStreamFault) -> Bool {
    struct Created: Decodable { let name: String }
    // Nothing is delivered twice while its owner works: what waits may wait for days. Its state is on disks. In memory
    // the servers need a fourth less processor time, but a restarted server begins empty: if the leader fails before it has
    // caught up, nothing is delivered until the leader is back.
    let settings = """
      {"stream_name":"\(stream)","action":"create","config":{"name":"\(name)","durable_name":"\(name)",\
      "ack_policy":"explicit","deliver_policy":"all","ack_wait":43200000000000,"max_ack_pending":-1,"max_deliver":-1}}
      """
    // Too many, several on a work queue, or one of this name: in each case it is not ours alone.
    let created = try await found(
      "CONSUMER.CREATE.\(stream).\(name)", settings, as: Created.self, absent: [10026, 10099, 10100, 10105, 10148])
    return created?.name == name
  }

  /// Removes a consumer; repeatable.
  func deleteConsumer(_ name: String, of stream: String) async throws(JetStreamFault) {
    _ = try await found("CONSUMER.DELETE.\(stream).\(name)", "", as: Done.self, absent: [10014])
  }

  /// The number of the last message that a consumer delivered; nil if the consumer does not exist.
  func delivered(by name: String, of stream: String) async throws(JetStreamFault) -> UInt64? {
    struct Info: Decodable {
      struct Delivered: Decodable {
        let consumer: UInt64
        private enum CodingKeys: String, CodingKey { case consumer = "consumer_seq" }
      }
      let delivered: Delivered
    }
    let info = try await found("CONSUMER.INFO.\(stream).\(name)", "", as: Info.self, absent: [10014, 10059])
    return info?.delivered.consumer
  }

  // MARK: Requests

  private struct Done: Decodable { let success: Bool }

  private struct Failure: Decodable {
    struct Reason: Decodable {
      let code: Int?
      let description: String?
      private enum CodingKeys: String, CodingKey {
        case code = "err_code"
        case description
      }
    }
    let error: Reason?
  }

  private func api<Answer: Decodable>(
    _ verb: String, _ body: String, as type: Answer.Type, within limit: Duration = .seconds(5)
  ) async throws(JetStreamFault) -> Answer {
    try await answer(to: "$JS.API.\(verb)", headers: [], Array(body.utf8), as: type, within: limit)
  }

  /// As `api`; nil for an error with one of these codes.
  private func found<Answer: Decodable>(
    _ verb: String, _ body: String, as type: Answer.Type, absent codes: [Int], within limit: Duration = .seconds(5)
  ) async throws(JetStreamFault) -> Answer? {
    do throws(JetStreamFault) { return try await api(verb, body, as: type, within: limit) } catch {
      guard case .api(let code, _) = error, codes.contains(code) else { throw error }
      return nil
    }
  }

  private func answer<Answer: Decodable>(
    to subject: String, headers: [String], _ body: [UInt8], as type: Answer.Type, within limit: Duration
  ) async throws(JetStreamFault) -> Answer {
    do throws(JetStreamFault) {
      let reply: Reply
      do { reply = try await connection.request(subject, headers: headers, body, within: limit) } catch {
        throw .request(error)
      }
      let answer = try Self.decoded(reply, as: type)
      connection.noteAnswer()
      return answer
    } catch {
      switch error {
      // The server has no leader to ask.
      case .api(10008, _), .api(10009, _), .request(.silent), .request(.noResponders): await connection.noteNoAnswer()
      case .api, .malformed: connection.noteAnswer()
      case .request, .lost: break
      }
      throw error
    }
  }

  private static func decoded<Answer: Decodable>(
    _ reply: Reply, as type: Answer.Type
  ) throws(JetStreamFault) -> Answer {
    guard reply.bytes.count <= mostBytes else { throw .malformed }
    let bytes = Data(reply.bytes)
    let decoder = JSONDecoder()
    do {
      if let failure = try decoder.decode(Failure.self, from: bytes).error {
        throw JetStreamFault.api(failure.code ?? 0, escaped(failure.description ?? "no reason", limit: 200))
      }
      return try decoder.decode(type, from: bytes)
    } catch let fault as JetStreamFault {
      throw fault
    } catch {
      throw .malformed
    }
  }
}

/// Why a call to JetStream failed.
enum JetStreamFault: Error, Equatable {
  /// JetStream's own error: its code, and its sentence.
  case api(Int, String)
  case request(RequestFault)
  /// The consumer is gone: another owner has deleted it.
  case lost
  /// The answer cannot be read.
  case malformed

  /// The same for the queue's callers.
  ///
  /// - Parameter mayTakeEffect: the request changes something, so that silence is a doubt.
  func queueError(mayTakeEffect: Bool) -> QueueError {
    switch self {
    case .api(10005, let why), .api(10047, let why), .api(10023, let why), .api(10028, let why), .api(10077, let why):
      .full("the servers of the cluster have no room (\(why)); raise their `max_file`, or the limit of the stream")
    case .api(10008, let why), .api(10009, let why), .api(10004, let why), .api(10118, let why),
      .api(10119, let why), .api(10041, let why):
      .unavailable("JetStream is not available now (\(why)); check that at least two servers of the cluster run")
    case .api(10158, let why), .api(10164, let why):
      mayTakeEffect ? .doubtful("the same request is under way (\(why))") : .unavailable(why)
    case .api(10039, let why), .api(10076, let why), .api(10074, let why):
      .refused("JetStream cannot be used (\(why)); set up three servers with `jetstream` and `cluster`")
    case .api(let code, let why):
      .refused("JetStream refuses a request (\(code): \(why)); check its streams and permissions")
    case .lost: .lost
    case .malformed where mayTakeEffect: .doubtful("a server of the cluster sent an answer that cannot be read")
    case .malformed: .unavailable("a server of the cluster sent an answer that cannot be read")
    case .request(.away):
      .unavailable("no server of the cluster can be reached now; check that they run, and the network")
    case .request(.noResponders):
      .unavailable("JetStream does not answer now; check that at least two servers of the cluster run with `jetstream`")
    case .request(.tooLarge):
      .refused("a message is larger than the servers take; set their `max_payload` to at least 1 MB")
    case .request(let fault):
      mayTakeEffect
        ? .doubtful("no answer of the cluster (\(fault.word)): what was asked may have happened, or may still")
        : .unavailable("no answer of the cluster (\(fault.word))")
    }
  }
}

extension RequestFault {
  fileprivate var word: String {
    switch self {
    case .silent: "none came in time"
    case .cancelled: "it was not waited for"
    case .away, .tooLarge, .noResponders, .broken: "the connection was lost"
    }
  }
}
