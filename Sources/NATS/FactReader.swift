import Clusters

/// Reads the facts of a host's requests. The servers announce a fact before they store it, and also one that they refuse.
actor FactReader {
  private let origin: HostID
  /// The subjects of its facts begin with this. It also names the mailbox of their announcements.
  private let prefix: String
  private var connection: Connection?
  /// The subjects of facts that were announced and not read yet.
  private var announced: Set<String> = []

  /// The waits for a fact that is being stored.
  private static let (firstPause, longestPause) = (Duration.milliseconds(10), Duration.milliseconds(100))

  /// More facts are not made at once, but a hostile server may announce any number.
  private static let mostAnnounced = 4096

  init(of origin: HostID) {
    self.origin = origin
    prefix = "ps.r.\(origin)"
  }

  /// Facts behind a position. Waits some seconds for the first one.
  func read(
    after position: Position, limit: Int, _ stream: JetStream
  ) async throws(JetStreamFault) -> [StoredFact] {
    if connection !== stream.connection {
      connection = stream.connection
      stream.connection.open(mailbox: prefix)
      stream.connection.listen(to: "\(prefix).*")
    }
    let end = ContinuousClock.now + .seconds(NATSQueue.patience)
    var pause = Self.firstPause
    while true {
      // Before the look, so that what is announced meanwhile is known at the next turn.
      try await hear(stream.connection, within: nil)
      let facts = try await look(after: position, limit: limit, stream)
      announced.subtract(facts.map { "\(prefix).\($0.id)" })
      if !facts.isEmpty || limit == 0 { return facts }
      guard .now < end else {
        // A fact that is not stored by now was probably refused. If it is stored later, a later look finds it.
        announced = []
        return []
      }
      if announced.isEmpty { try await hear(stream.connection, within: end - ContinuousClock.now) }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, Self.longestPause)
    }
  }

  /// Notes the announcements that came. With a limit, it waits that long for the first one.
  private func hear(_ connection: Connection, within limit: Duration?) async throws(JetStreamFault) {
    do throws(RequestFault) {
      let replies =
        if let limit { try await connection.take(from: prefix, within: limit) } else {
          try connection.taken(from: prefix) ?? []
        }
      announced.formUnion(replies.map(\.subject))
      if announced.count > Self.mostAnnounced { announced = [] }
    } catch {
      if error == .cancelled { throw .request(error) }
      // After a lost connection, facts may have come unheard; the next look finds them.
      connection.open(mailbox: prefix)
    }
  }

  private func look(
    after position: Position, limit: Int, _ stream: JetStream
  ) async throws(JetStreamFault) -> [StoredFact] {
    var facts: [StoredFact] = []
    while facts.count < limit,
      let (id, stored) = try await stream.record(
        after: facts.last?.position ?? position, below: prefix, in: StreamSettings.done.name)
    {
      facts.append(StoredFact(position: stored.position, id: id, fact: stored.bytes))
    }
    return facts
  }
}
