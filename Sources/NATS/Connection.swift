import CNATS
import Clusters
import Dispatch
import Glibc
import Synchronization

/// A connection to one of the servers, which libnats replaces by itself when it is lost.
///
/// One queue sends all requests. Replies come on libnats' threads and only resume their callers.
final class Connection: Sendable {
  private typealias Answer = Result<Reply?, RequestFault>

  /// Messages of a consumer or of a batch, until they are taken.
  private struct Mailbox {
    var replies: [Reply] = []
    var bytes = 0
    var waiter: UInt64?
    /// Messages are missing: the connection was lost, or more came than a mailbox holds.
    var isBroken = false
  }

  private struct State {
    var next: UInt64 = 0
    var waiting: [UInt64: (continuation: CheckedContinuation<Answer, Never>, deadline: ContinuousClock.Instant)] = [:]
    var mailboxes: [String: Mailbox] = [:]
    var isSweeping = false
    var isClosed = false
    /// The first call that JetStream did not answer, after the last one that it answered.
    var unansweredSince: ContinuousClock.Instant?
    var trouble: String?
  }

  /// libnats' connection.
  ///
  /// `@unchecked` is safe: the pointer is kept only in the mutex `handle`. It is used only under that mutex. The serial
  /// queue `sending` takes it out and frees it, and alone uses it, so nobody uses it afterwards.
  private struct Handle: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  /// Limits of a mailbox: a server that sends more than was asked for must not fill the memory.
  private static let mostMessages = 4096
  private static let mostBytes = 64 << 20
  private static let everyone = Mutex<(next: UInt64, connections: [UInt64: Connection])>((1, [:]))

  private let number: UInt64
  /// The prefix of all subjects for replies.
  private let inbox: String
  private let state = Mutex(State())
  private let handle = Mutex<Handle?>(nil)
  /// Calls libnats once connected: one call at a time, so that nothing is sent on a connection that was freed.
  private let sending = DispatchQueue(label: "photospool.nats.send")
  private let sweeping = DispatchQueue(label: "photospool.nats.sweep")

  /// Blocks until connected: some seconds at most for each server.
  ///
  /// - Throws: `.refused` if somebody has to fix it, else `.unavailable`.
  init(_ options: NATSOptions) throws(QueueError) {
    number = Self.everyone.withLock { everyone in
      everyone.next += 1
      return everyone.next - 1
    }
    inbox = "_INBOX.ps\(String(UInt64.random(in: .min ... .max), radix: 36))."
    Self.everyone.withLock { $0.connections[number] = self }
    do { try connect(options) } catch {
      forget()
      throw error
    }
  }

  /// The last error that a server reported outside of a reply, such as a missing permission.
  var trouble: String? { state.withLock(\.trouble) }
  var isClosed: Bool { state.withLock(\.isClosed) }

  /// Sends a message and waits for its reply.
  ///
  /// - Parameter headers: pairs of name and value.
  func request(
    _ subject: String, headers: [String] = [], _ body: [UInt8] = [], within limit: Duration = .seconds(5)
  ) async throws(RequestFault) -> Reply {
    let answer = await wait(within: limit) { number in
      self.send(subject, reply: "\(self.inbox)r\(number)", headers, body, for: number)
    }
    guard let reply = try answer.get() else { throw .silent }
    if reply.status == 503 { throw .noResponders }
    return reply
  }

  // MARK: Whether JetStream answers

  /// A server that the others cannot reach keeps its clients, and answers none of their calls.
  private static let patience = Duration.seconds(10)

  func noteAnswer() { state.withLock { $0.unansweredSince = nil } }

  /// Closes the connection when no call has been answered for a while, so that the next caller connects to any of the servers.
  func noteNoAnswer() async {
    let since = state.withLock { state in
      let since = state.unansweredSince ?? .now
      state.unansweredSince = since
      return since
    }
    if .now - since > Self.patience { await close() }
  }

  // MARK: Mailboxes

  /// Makes a mailbox, or empties it.
  func open(mailbox: String) { state.withLock { $0.mailboxes[mailbox] = Mailbox() } }

  func close(mailbox: String) {
    let waiter = state.withLock { $0.mailboxes.removeValue(forKey: mailbox)?.waiter }
    if let waiter { settle(waiter, .failure(.broken)) }
  }

  /// Asks for messages to a mailbox.
  func ask(_ subject: String, _ body: [UInt8], to mailbox: String) {
    send(subject, reply: "\(inbox)m\(mailbox)", [], body, for: nil)
  }

  /// All that has come to a mailbox; waits for the first one.
  ///
  /// - Returns: nothing if none came within the time limit.
  /// - Throws: `.broken` once something is missing.
  func take(from mailbox: String, within limit: Duration) async throws(RequestFault) -> [Reply] {
    if let replies = try taken(from: mailbox) { return replies }
    let answer = await wait(within: limit) { number in
      let isThere = self.state.withLock { state in
        guard let box = state.mailboxes[mailbox], box.replies.isEmpty, !box.isBroken else { return true }
        state.mailboxes[mailbox]?.waiter = number
        return false
      }
      if isThere { self.settle(number, .success(nil)) }
    }
    switch answer {
    case .success: return try taken(from: mailbox) ?? []
    case .failure(.silent): return []
    case .failure(let fault): throw fault
    }
  }

  /// As `take`, without a wait; nil if nothing has come.
  func taken(from mailbox: String) throws(RequestFault) -> [Reply]? {
    try state.withLock { state throws(RequestFault) -> [Reply]? in
      guard let box = state.mailboxes[mailbox] else { throw .broken }
      state.mailboxes[mailbox]?.waiter = nil
      guard box.replies.isEmpty else {
        state.mailboxes[mailbox]?.replies = []
        state.mailboxes[mailbox]?.bytes = 0
        return box.replies
      }
      if box.isBroken { throw .broken }
      return nil
    }
  }

  /// Receives messages to `subject`, which may have wildcards. They come to the mailbox that is named by the first three
  /// words of their subject.
  func listen(to subject: String) {
    sending.async {
      self.handle.withLock { handle in
        if let handle { _ = cnats_listen(handle.pointer, subject) }
      }
    }
  }

  // MARK: End

  func close() async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      sending.async {
        let handle = self.handle.withLock { handle in
          defer { handle = nil }
          return handle
        }
        if let handle { cnats_close(handle.pointer) }
        done.resume()
      }
    }
    changed(CNATS_CLOSED)
  }

  private func forget() { Self.everyone.withLock { _ = $0.connections.removeValue(forKey: number) } }
}

// MARK: - Sending

extension Connection {
  private func connect(_ options: NATSOptions) throws(QueueError) {
    var why = [CChar](repeating: 0, count: 512)
    var connection: OpaquePointer?
    let servers = options.servers.map { strdup($0.description) }
    let texts: [UnsafeMutablePointer<CChar>?] = [strdup(options.name), strdup(inbox + ">")]
    let token = options.token.flatMap { strdup($0) }
    let authority = options.authority.flatMap { strdup($0) }
    defer { for text in servers + texts + [token, authority] { free(text) } }
    let result = servers.map { UnsafePointer($0) }.withUnsafeBufferPointer { servers in
      var wanted = cnats_options()
      wanted.servers = servers.baseAddress
      wanted.count = Int32(servers.count)
      wanted.name = UnsafePointer(texts[0])
      wanted.token = UnsafePointer(token)
      wanted.secure = options.isSecure
      wanted.authority = UnsafePointer(authority)
      wanted.inbox = UnsafePointer(texts[1])
      wanted.number = number
      wanted.on_message = { number, message in
        if let message { Connection.of(number)?.received(Reply(message.pointee)) }
      }
      wanted.on_change = { number, change in Connection.of(number)?.changed(cnats_change(UInt32(change))) }
      wanted.on_error = { number, sentence in
        if let sentence { Connection.of(number)?.note(String(cString: sentence)) }
      }
      return cnats_connect(&wanted, &connection, &why, why.count)
    }
    guard result == Int32(CNATS_OK.rawValue), let connection else {
      let sentence = String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw QueueError(cnats_result(UInt32(result)), sentence)
    }
    handle.withLock { $0 = Handle(pointer: connection) }
  }

  private static func of(_ number: UInt64) -> Connection? { everyone.withLock { $0.connections[number] } }

  /// - Parameter number: the waiting caller that fails if it cannot be sent.
  private func send(
    _ subject: String, reply: String, _ headers: [String], _ body: [UInt8], for number: UInt64?
  ) {
    sending.async {
      let texts = headers.map { strdup($0) }
      defer { for text in texts { free(text) } }
      let result = self.handle.withLock { handle in
        guard let handle else { return Int32(CNATS_AWAY.rawValue) }
        return texts.map { UnsafePointer($0) }.withUnsafeBufferPointer { texts in
          body.withUnsafeBytes { body in
            cnats_send(
              handle.pointer, subject, reply, texts.baseAddress, Int32(texts.count), body.baseAddress, body.count)
          }
        }
      }
      guard result != Int32(CNATS_OK.rawValue), let number else { return }
      switch cnats_result(UInt32(result)) {
      case CNATS_AWAY: self.settle(number, .failure(.away))
      case CNATS_TOO_LARGE: self.settle(number, .failure(.tooLarge))
      default: self.settle(number, .failure(.broken))
      }
    }
  }

  // MARK: Waiting

  private func wait(within limit: Duration, after start: @escaping @Sendable (UInt64) -> Void) async -> Answer {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isClosed = state.withLock { state in
          if state.isClosed { return true }
          state.waiting[number] = (continuation, ContinuousClock.now + limit)
          return false
        }
        guard !isClosed else { return continuation.resume(returning: .failure(.away)) }
        sweepLater()
        // It may have been cancelled before it waited.
        if Task.isCancelled { return settle(number, .failure(.cancelled)) }
        start(number)
      }
    } onCancel: {
      settle(number, .failure(.cancelled))
    }
  }

  private func settle(_ number: UInt64, _ answer: Answer) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume(returning: answer)
  }

  /// One timer for all waiting callers; none runs without them.
  private func sweepLater() {
    let isNeeded = state.withLock { state in
      guard !state.isSweeping, !state.waiting.isEmpty else { return false }
      state.isSweeping = true
      return true
    }
    if isNeeded { sweeping.asyncAfter(deadline: .now() + .milliseconds(100)) { self.sweep() } }
  }

  private func sweep() {
    let now = ContinuousClock.now
    let late = state.withLock { state in
      state.isSweeping = false
      return state.waiting.filter { $0.value.deadline <= now }.map(\.key)
    }
    for number in late { settle(number, .failure(.silent)) }
    sweepLater()
  }

  // MARK: Callbacks

  private func received(_ reply: Reply) {
    guard reply.subject.hasPrefix(inbox) else {
      // A message of a consumer keeps its subject; its reply names the consumer.
      if let consumer = DeliveryMark(reply.reply)?.consumer { return post(reply, to: consumer) }
      let heard = reply.subject.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
      return post(reply, to: heard.joined(separator: "."))
    }
    let name = reply.subject.dropFirst(inbox.count)
    switch name.first {
    case "r": if let number = UInt64(name.dropFirst()) { settle(number, .success(reply)) }
    case "m": post(reply, to: String(name.dropFirst()))
    default: break
    }
  }

  private func post(_ reply: Reply, to mailbox: String) {
    let waiter: UInt64? = state.withLock { state in
      guard var box = state.mailboxes.removeValue(forKey: mailbox) else { return nil }
      defer { state.mailboxes[mailbox] = box }
      if box.replies.count < Self.mostMessages, box.bytes + reply.bytes.count <= Self.mostBytes, !box.isBroken {
        box.replies.append(reply)
        box.bytes += reply.bytes.count
      } else {
        box.isBroken = true
      }
      defer { box.waiter = nil }
      return box.waiter
    }
    if let waiter { settle(waiter, .success(nil)) }
  }

  private func changed(_ change: cnats_change) {
    let numbers = state.withLock { state in
      if change == CNATS_CLOSED { state.isClosed = true }
      for name in state.mailboxes.keys { state.mailboxes[name]?.isBroken = true }
      return Array(state.waiting.keys)
    }
    for number in numbers { settle(number, .failure(.broken)) }
    if change == CNATS_CLOSED { forget() }
  }

  private func note(_ sentence: String) { state.withLock { $0.trouble = String(sentence.prefix(300)) } }
}

extension QueueError {
  /// Why there is no connection: lasting if somebody has to fix it.
  fileprivate init(_ result: cnats_result, _ sentence: String) {
    switch result {
    case CNATS_NO_LIBRARY: self = .refused(sentence)
    case CNATS_DENIED: self = .refused("the servers of the cluster refuse the token; check `cluster.token`")
    case CNATS_INSECURE:
      self = .refused(
        "no server of the cluster has a valid certificate (\(sentence)); check it, and the names in `cluster.servers`")
    default:
      self = .unavailable(
        "no server of the cluster can be reached (\(sentence)); check `cluster.servers` and whether they run")
    }
  }
}
