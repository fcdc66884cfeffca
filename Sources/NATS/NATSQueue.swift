import Clusters
import FoundationEssentials
import Messages
import Synchronization

/// The queue of a cluster on NATS JetStream.
///
/// A partition is a work-queue stream, `PS_Q00` to `PS_Q15`. Its only consumer is its lock: the servers refuse a second
/// one, and without it nothing is delivered or acknowledged. A fact is a message of `PS_DONE` that is made only as the first
/// of its subject. `PS_BYTES` keeps photos in pieces, `PS_HOSTS` the last beat of each host. Every append is on the disks of
/// two of the three servers before it is acknowledged, if they sync always.
///
/// Nothing happens before the first call: it loads libnats, connects, and makes the streams that are missing.
package final class NATSQueue: Queue {
  private let connector: Connector
  private let readers = Mutex<[HostID: FactReader]>([:])
  /// How long a read waits for the first one, in seconds.
  static let patience = 3

  package init(_ options: NATSOptions) { connector = Connector(options) }

  package func close() async { await connector.close() }

  /// Runs `body` with a connection to servers that are new enough. Its errors become those of the queue.
  ///
  /// - Parameter mayTakeEffect: the request changes something, so that silence is a doubt.
  func ask<Answer>(
    mayTakeEffect: Bool, _ body: (JetStream) async throws -> Answer
  ) async throws(QueueError) -> Answer {
    let stream = try await connector.jetStream()
    do { return try await body(stream) } catch let error as QueueError { throw error } catch {
      throw (error as? JetStreamFault ?? .malformed).queueError(mayTakeEffect: mayTakeEffect)
    }
  }

  // MARK: Records

  package func append(
    _ record: [UInt8], as id: RecordID, to partition: Partition
  ) async throws(QueueError) -> Position {
    let made = try await ask(mayTakeEffect: true) { stream in
      // The header refuses a record that was there in the last two minutes, and not only one that is there now.
      try await stream.appendFirst(
        record, to: "ps.q.\(partition).\(id)", of: StreamSettings.queue(partition).name,
        headers: ["Nats-Msg-Id", id.text])
    }
    if let made { return made }
    guard let position = try await find(id, in: partition) else {
      throw .doubtful("record \(id) was in the queue a moment ago, and is not there now")
    }
    return position
  }

  package func find(_ id: RecordID, in partition: Partition) async throws(QueueError) -> Position? {
    try await ask(mayTakeEffect: false) { stream in
      try await stream.last(of: "ps.q.\(partition).\(id)", in: StreamSettings.queue(partition).name)?.position
    }
  }

  package func record(
    after position: Position, in partition: Partition
  ) async throws(QueueError) -> StoredRecord? {
    try await ask(mayTakeEffect: false) { stream in
      let (subjects, name) = ("ps.q.\(partition)", StreamSettings.queue(partition).name)
      return try await stream.record(after: position, below: subjects, in: name).map { found in
        StoredRecord(position: found.stored.position, id: found.id, record: found.stored.bytes)
      }
    }
  }

  // MARK: Owners

  package func owners() async throws(QueueError) -> [Partition: HostID] {
    try await ask(mayTakeEffect: false) { stream in
      let found = try await eachOf(Partition.all, atOnce: 16) { partition in
        let consumers = try await stream.consumers(of: StreamSettings.queue(partition).name)
        return (partition, consumers.compactMap(ConsumerName.init).first?.host)
      }
      return Dictionary(uniqueKeysWithValues: found.compactMap { partition, host in host.map { (partition, $0) } })
    }
  }

  package func take(
    _ partition: Partition, for host: HostID, replacing replaced: Set<HostID>
  ) async throws(QueueError) -> (any OwnedPartition)? {
    let settings = StreamSettings.queue(partition)
    // A consumer that was made without an answer is this host's, which may replace it.
    return try await ask(mayTakeEffect: false) { stream in
      for name in try await stream.consumers(of: settings.name) {
        guard let owner = ConsumerName(name) else {
          let name = escaped(name, limit: 80)
          throw QueueError.refused("the stream \(settings.name) has a foreign consumer, \(name); delete it")
        }
        guard owner.host == host || replaced.contains(owner.host) else { return nil }
        try await stream.deleteConsumer(name, of: settings.name)
      }
      let consumer = ConsumerName(host: host)
      guard try await stream.createConsumer(consumer.text, of: settings.name),
        let info = try await stream.stream(settings.name)
      else { return nil }
      return NATSPartition(partition, consumer, connector, inherited: info.state.last)
    }
  }

  // MARK: Facts

  package func conclude(_ fact: [UInt8], of id: RecordID, from origin: HostID) async throws(QueueError) -> [UInt8] {
    let made = try await ask(mayTakeEffect: true) { stream in
      try await stream.appendFirst(fact, to: "ps.r.\(origin).\(id)", of: StreamSettings.done.name)
    }
    if made != nil { return fact }
    guard let standing = try await self.fact(of: id, from: origin) else {
      throw .doubtful("a fact of \(id) is being made")
    }
    return standing
  }

  package func fact(of id: RecordID, from origin: HostID) async throws(QueueError) -> [UInt8]? {
    try await ask(mayTakeEffect: false) { stream in
      try await stream.last(of: "ps.r.\(origin).\(id)", in: StreamSettings.done.name)?.bytes
    }
  }

  package func facts(
    for origin: HostID, after position: Position, limit: Int
  ) async throws(QueueError) -> [StoredFact] {
    let reader = readers.withLock { readers in
      let reader = readers[origin] ?? FactReader(of: origin)
      readers[origin] = reader
      return reader
    }
    return try await ask(mayTakeEffect: false) { stream in
      try await reader.read(after: position, limit: limit, stream)
    }
  }

  // MARK: Hosts

  package func beat(_ beat: Beat) async throws(QueueError) {
    _ = try await ask(mayTakeEffect: true) { stream in
      try await stream.append(try json(beat), to: "ps.h.\(beat.host)", of: StreamSettings.hosts.name)
    }
  }

  package func beats() async throws(QueueError) -> [StoredBeat] {
    try await ask(mayTakeEffect: false) { stream in
      var beats: [StoredBeat] = []
      var position: UInt64 = 1
      // All from the stream's leader, or none: a host that was left out would be taken for dead.
      while let stored = try await stream.next(from: position, of: "ps.h.*", in: StreamSettings.hosts.name) {
        guard stored.position >= position, stored.position < .max, beats.count < 10_000 else {
          throw JetStreamFault.malformed
        }
        position = stored.position + 1
        guard stored.bytes.count <= 4096, let beat = try? JSONDecoder().decode(Beat.self, from: Data(stored.bytes)),
          stored.subject == "ps.h.\(beat.host)"
        else { continue }
        // A host that beats during this loop appears twice.
        beats.removeAll { $0.beat.host == beat.host }
        beats.append(StoredBeat(beat: beat, number: stored.position))
      }
      return beats
    }
  }

  package func faults() async throws(QueueError) -> [String] {
    var faults: [String] = []
    for (address, greeting) in await connector.greetings() {
      guard let greeting else {
        faults.append("\(address) does not answer as a NATS server; check `cluster.servers` and whether it runs")
        continue
      }
      if !greeting.isNewEnough { faults.append(Connector.tooOld(address, greeting)) }
      if greeting.jetstream != true {
        faults.append("\(address) runs without JetStream; add `jetstream` to its configuration")
      }
    }
    do throws(QueueError) {
      let (infos, trouble) = try await ask(mayTakeEffect: false) { stream in
        let infos = try await eachOf(StreamSettings.all, atOnce: 16) { ($0, try await stream.stream($0.name)) }
        return (infos, stream.connection.trouble)
      }
      for (settings, info) in infos {
        guard let info else {
          faults.append("the stream \(settings.name) is missing; start photospool again")
          continue
        }
        if let fault = settings.fault(info) { faults.append(fault) }
      }
      let offline = infos.flatMap { _, info in info?.cluster?.replicas ?? [] }.filter { $0.offline == true }
      for name in Set(offline.map { escaped($0.name, limit: 80) }).sorted() {
        faults.append("the server \(name) of the cluster is offline; start it before another one fails")
      }
      if let trouble {
        faults.append("a server of the cluster says: \(escaped(trouble, limit: 200))")
      }
    } catch {
      faults.append(error.description)
    }
    return faults
  }
}

/// The name of a partition's consumer: `o-LIFE-HOST`, with another life each time.
struct ConsumerName: Sendable {
  let host: HostID
  let text: String

  init(host: HostID) {
    self.host = host
    let life = String(UInt64.random(in: .min ... .max), radix: 16)
    text = "o-\(life)-\(host)"
  }

  /// nil for a name that is not ours.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "o", parts[1].utf8.count <= 16, let host = HostID(String(parts[2])) else {
      return nil
    }
    self.host = host
    self.text = text
  }
}

extension JetStream {
  /// Appends the first message of a subject; nil if the subject already has one.
  fileprivate func appendFirst(
    _ bytes: [UInt8], to subject: String, of stream: String, headers: [String] = []
  ) async throws(JetStreamFault) -> UInt64? {
    let headers = headers + ["Nats-Expected-Last-Subject-Sequence", "0"]
    do throws(JetStreamFault) { return try await append(bytes, to: subject, of: stream, headers: headers) } catch {
      guard case .api(10071, _) = error else { throw error }
      return nil
    }
  }

  /// The first message behind a position whose subject is `prefix` and a record's id. Others are passed over.
  func record(
    after position: Position, below prefix: String, in name: String
  ) async throws(JetStreamFault) -> (id: RecordID, stored: Stored)? {
    var position = position
    while position < .max, let stored = try await next(from: position + 1, of: "\(prefix).*", in: name) {
      guard stored.position > position else { throw .malformed }
      position = stored.position
      if let last = stored.subject.split(separator: ".").last, let id = RecordID(String(last)),
        stored.subject == "\(prefix).\(id)"
      {
        return (id, stored)
      }
    }
    return nil
  }
}
