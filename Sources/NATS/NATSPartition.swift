import Clusters
import Synchronization

/// A partition that is read and finished through its only consumer.
///
/// The consumer numbers what it delivers. If a number is missing, a message was lost on its way, and what follows must not be
/// handed out: the consumer is replaced by another one, which begins with the first unfinished record. The consumer holds
/// an owner's place whether its host lives or not; another host that deletes it ends both reading and finishing here.
actor NATSPartition: OwnedPartition {
  /// What is needed to acknowledge a message.
  private struct Unfinished {
    let delivered: UInt64
    let number: UInt64
  }

  /// A server's way to say that one request for messages is over.
  private enum End {
    /// The time is up, or enough was delivered.
    case usual
    /// The consumer may be gone, or its server.
    case doubtful
  }

  private let partition: Partition
  private let settings: StreamSettings
  private let connector: Connector
  private var consumer: ConsumerName
  /// The connection to which the consumer delivers.
  private var connection: Connection?
  private var isReleased = false
  /// Begins the reply that acknowledges; told by the first message.
  private var prefix: String?
  private var unfinished: [Position: Unfinished] = [:]
  /// Finished before this consumer delivered them.
  private var early: Set<Position> = []
  private var highest: Position = 0
  /// The number of the last message that came.
  private var number: UInt64 = 0
  /// Messages that were asked for and may still come.
  private var asked = 0
  private var deadline: ContinuousClock.Instant = .now
  private var emptyReads = 0

  private nonisolated let last: Mutex<Position>

  nonisolated var inherited: Position { last.withLock { $0 } }

  init(_ partition: Partition, _ consumer: ConsumerName, _ connector: Connector, inherited: Position) {
    last = Mutex(inherited)
    self.partition = partition
    self.consumer = consumer
    self.connector = connector
    settings = .queue(partition)
  }

  func read(limit: Int) async throws(QueueError) -> [StoredRecord] {
    guard !isReleased else { throw .lost }
    let stream = try await connector.jetStream()
    do throws(JetStreamFault) {
      if connection !== stream.connection { open(on: stream.connection) }
      if asked <= 0 || ContinuousClock.now > deadline { ask(min(max(limit, 1), 1000), stream) }
      let replies: [Reply]
      do {
        replies = try await stream.connection.take(from: consumer.text, within: .seconds(NATSQueue.patience + 1))
      } catch {
        if error == .cancelled { throw .request(error) }
        try await check(stream)
        return []
      }
      return try await records(replies, stream)
    } catch {
      throw error.queueError(mayTakeEffect: false)
    }
  }

  func finish(_ position: Position) async throws(QueueError) {
    guard !isReleased else { throw .lost }
    let stream = try await connector.jetStream()
    do { try await finish(position, stream) } catch { throw error.queueError(mayTakeEffect: true) }
  }

  func release() async {
    isReleased = true
    connection?.close(mailbox: consumer.text)
    try? await connector.jetStream().deleteConsumer(consumer.text, of: settings.name)
  }

  private func finish(_ position: Position, _ stream: JetStream) async throws(JetStreamFault) {
    guard let prefix, let mark = unfinished[position] else {
      // Either it is finished, or this consumer has yet to deliver it, and will not hand it out.
      if position > highest { early.insert(position) }
      return
    }
    do {
      _ = try await stream.connection.request(
        "\(prefix)\(mark.delivered).\(position).\(mark.number).0.0", Array("+ACK".utf8))
      unfinished[position] = nil
    } catch {
      guard error == .noResponders, try await stream.delivered(by: consumer.text, of: settings.name) == nil else {
        throw .request(error)
      }
      throw .lost
    }
  }

  // MARK: Reading

  private func open(on new: Connection) {
    connection?.close(mailbox: consumer.text)
    _ = new.open(mailbox: consumer.text)
    connection = new
    asked = 0
  }

  private func ask(_ limit: Int, _ stream: JetStream) {
    asked = limit
    deadline = .now + .seconds(NATSQueue.patience + 1)
    let order = "{\"batch\":\(limit),\"expires\":\(NATSQueue.patience * 1_000_000_000),\"max_bytes\":\(8 << 20)}"
    stream.connection.ask(
      "$JS.API.CONSUMER.MSG.NEXT.\(settings.name).\(consumer.text)", Array(order.utf8), to: consumer.text)
  }

  private func records(_ replies: [Reply], _ stream: JetStream) async throws(JetStreamFault) -> [StoredRecord] {
    var records: [StoredRecord] = []
    var end: End? = replies.isEmpty ? .doubtful : nil
    for reply in replies {
      guard let mark = DeliveryMark(reply.reply) else {
        if let told = Self.end(reply.status, reply.description) { end = told }
        continue
      }
      guard mark.stream == settings.name, mark.consumer == consumer.text else { continue }
      asked -= 1
      guard mark.number == number + 1 else {
        // Nothing behind the gap is handed out.
        try await replace(stream)
        return records
      }
      if let record = record(reply, mark) { records.append(record) }
    }
    for position in early where position <= highest {
      try await finish(position, stream)
      early.remove(position)
    }
    guard let end else { return records }
    asked = 0
    emptyReads = records.isEmpty ? emptyReads + 1 : 0
    // A message that is lost on its way leaves no gap if nothing follows it.
    if end == .doubtful || emptyReads % 5 == 4 { try await check(stream) }
    return records
  }

  /// nil if it is not to be handed out.
  private func record(_ reply: Reply, _ mark: DeliveryMark) -> StoredRecord? {
    number = mark.number
    prefix = mark.prefix
    highest = max(highest, mark.position)
    unfinished[mark.position] = Unfinished(delivered: mark.delivered, number: mark.number)
    // A message that is not ours is in nobody's way.
    guard !early.contains(mark.position), let last = reply.subject.split(separator: ".").last,
      let id = RecordID(String(last)), reply.subject == "ps.q.\(partition).\(id)"
    else { return nil }
    return StoredRecord(position: mark.position, id: id, record: reply.bytes)
  }

  /// nil if it is no end.
  private static func end(_ status: Int, _ description: String?) -> End? {
    switch status {
    case 100: nil
    case 404, 408: .usual
    case 409 where description?.hasPrefix("Message Size Exceeds MaxBytes") == true: .usual
    default: .doubtful
    }
  }

  /// Looks whether the consumer is still there and has delivered what came and no more; replaces it otherwise.
  private func check(_ stream: JetStream) async throws(JetStreamFault) {
    // Before the look: a message that comes after it is then kept.
    open(on: stream.connection)
    guard let delivered = try await stream.delivered(by: consumer.text, of: settings.name) else { throw .lost }
    if delivered != number { try await replace(stream) }
  }

  /// Begins again with the first unfinished record. Another host may be quicker.
  private func replace(_ stream: JetStream) async throws(JetStreamFault) {
    stream.connection.close(mailbox: consumer.text)
    connection = nil
    try await stream.deleteConsumer(consumer.text, of: settings.name)
    consumer = ConsumerName(host: consumer.host)
    number = 0
    highest = 0
    prefix = nil
    unfinished = [:]
    guard try await stream.createConsumer(consumer.text, of: settings.name),
      let info = try await stream.stream(settings.name)
    else { throw .lost }
    // Between the two, another host may have come and gone.
    last.withLock { $0 = info.state.last }
  }
}
