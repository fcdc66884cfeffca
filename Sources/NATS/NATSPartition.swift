import Clusters
import Synchronization

/// A partition that is read and finished through its only consumer.
///
/// The consumer numbers its deliveries. If a number is missing, a message was lost, and later ones must not be handed out:
/// another consumer replaces this one and begins with the first unfinished record. The consumer stays when its host dies.
/// Another host that deletes it ends both reading and finishing here.
actor NATSPartition: OwnedPartition {
  /// Why a server has ended one request for messages.
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
  /// The first part of the subject that acknowledges; the first message brings it.
  private var prefix: String?
  /// The numbers that acknowledge each unfinished record.
  private var unfinished: [Position: (delivered: UInt64, number: UInt64)] = [:]
  /// Finished before this consumer delivered them.
  private var early: Set<Position> = []
  private var highest: Position = 0
  /// The number of the last message that came.
  private var number: UInt64 = 0
  /// The number of the last message that the consumer had delivered at the last check.
  private var expected: UInt64 = 0
  /// The connection was lost after the last check, and with it perhaps messages.
  private var hasLost = false
  /// Records that came and were not handed out yet. The consumer delivers each once, so a read that fails must keep them.
  private var arrived: [StoredRecord] = []
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
      if !arrived.isEmpty { return handOut() }
      if connection !== stream.connection {
        hasLost = connection != nil
        open(on: stream.connection)
      }
      if hasLost { try await check(stream) }
      // The consumer is another one.
      if connection == nil { open(on: stream.connection) }
      if asked <= 0 || ContinuousClock.now > deadline { ask(min(max(limit, 1), 1000), stream) }
      let replies: [Reply]
      do {
        replies = try await stream.connection.take(from: consumer.text, within: .seconds(NATSQueue.patience + 1))
      } catch {
        if error == .cancelled { throw .request(error) }
        hasLost = true
        open(on: stream.connection)
        return handOut()
      }
      try await receive(replies, stream)
      return handOut()
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
    new.open(mailbox: consumer.text)
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

  private func handOut() -> [StoredRecord] {
    defer { arrived = [] }
    return arrived
  }

  /// Takes in what came. If it throws, the records that came before are kept for the next read.
  func receive(_ replies: [Reply], _ stream: JetStream) async throws(JetStreamFault) {
    var end: End? = replies.isEmpty ? .doubtful : nil
    for reply in replies {
      guard let mark = DeliveryMark(reply.reply) else {
        if let told = Self.end(reply.status, reply.description) { end = told }
        continue
      }
      guard mark.stream == settings.name, mark.consumer == consumer.text else { continue }
      asked -= 1
      emptyReads = 0
      guard mark.number == number + 1 else {
        // Nothing behind the gap is handed out.
        return try await replace(stream)
      }
      if let record = record(reply, mark) { arrived.append(record) }
    }
    for position in early where position <= highest {
      try await finish(position, stream)
      early.remove(position)
    }
    guard let end else { return }
    asked = 0
    if arrived.isEmpty { emptyReads += 1 }
    // A message that is lost on its way leaves no gap if nothing follows it.
    if end == .doubtful || number < expected || emptyReads % 5 == 4 { try await check(stream) }
  }

  /// nil if it is not to be handed out.
  private func record(_ reply: Reply, _ mark: DeliveryMark) -> StoredRecord? {
    number = mark.number
    prefix = mark.prefix
    highest = max(highest, mark.position)
    unfinished[mark.position] = (mark.delivered, mark.number)
    // A foreign message stays in the stream and blocks no other.
    guard !early.contains(mark.position), let last = reply.subject.split(separator: ".").last,
      let id = RecordID(String(last)), reply.subject == "ps.q.\(partition).\(id)"
    else { return nil }
    return StoredRecord(position: mark.position, id: id, record: reply.bytes)
  }

  /// nil if it is no end.
  private static func end(_ status: Int, _ description: String?) -> End? {
    switch status {
    case 100: nil
    // It overtakes the messages that it counts.
    case 409 where description?.hasPrefix("Batch Completed") == true: nil
    case 404, 408: .usual
    case 409 where description?.hasPrefix("Message Size Exceeds MaxBytes") == true: .usual
    default: .doubtful
    }
  }

  /// Replaces the consumer if messages that it had delivered at the previous check have still not arrived, or at once after
  /// a lost connection. A status may overtake messages, so one check is not enough.
  ///
  /// - Throws: `.lost` if the consumer is gone.
  private func check(_ stream: JetStream) async throws(JetStreamFault) {
    guard let now = try await stream.delivered(by: consumer.text, of: settings.name) else { throw .lost }
    if number < expected || hasLost && number < now { return try await replace(stream) }
    hasLost = false
    expected = now
  }

  /// Begins again with the first unfinished record. Another host may take the partition first.
  private func replace(_ stream: JetStream) async throws(JetStreamFault) {
    stream.connection.close(mailbox: consumer.text)
    connection = nil
    try await stream.deleteConsumer(consumer.text, of: settings.name)
    consumer = ConsumerName(host: consumer.host)
    number = 0
    expected = 0
    hasLost = false
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
