import Clusters
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling

/// Tells the origins how requests ended. Order for each record: the outcomes are committed here; the fact is made; the record
/// is finished; its rows are forgotten. A crash before the record is finished leaves it to the next owner.
///
/// One fact tells the ends of a record's requests once all have ended. An end that has waited a second for that is told in a
/// fact of its own, and so is every failure and cancellation: a later owner looks for it under the request's id.
struct OwnedEnds: Service, HasCore {
  let core: DeliveryCore
  let link: ClusterLink
  let partitions: Partitions
  let bytes: OwnedBytes

  private static let work = "ends of requests cannot be told to their origins"
  private static let (batch, atOnce) = (256, 64)
  /// How long an end waits for its record, in seconds.
  private static let patience = 1.0

  func run() async throws {
    signals.filing.ring()
    await signals.filing.serve {
      try await tellAll()
      troubles.end(Self.work)
    } failed: { error in
      troubles.tell(Self.work, error)
      return 1
    }
    // Others find the rest out by themselves.
    try? await tellAll()
  }

  private func tellAll() async throws {
    var (last, failure) = (Int64(0), (any Error)?.none)
    if try await ledger.tellWaiting(longerThan: Self.patience, at: .now()) { signals.filing.ring(in: Self.patience) }
    // Requests whose end cannot be told now hold up no others.
    while case let requests = try await ledger.unfiled(after: last, limit: Self.batch), let end = requests.last {
      last = end.row
      let records = Array(Dictionary(grouping: requests, by: \.record).values)
      var finished: Set<RecordID> = []
      for start in stride(from: 0, to: records.count, by: Self.atOnce) {
        let chunk = records[start..<min(start + Self.atOnce, records.count)]
        await withTaskGroup(of: Swift.Result<RecordID?, any Error>.self) { group in
          for requests in chunk {
            group.addTask {
              do { return .success(try await tell(requests)) } catch { return .failure(error) }
            }
          }
          for await result in group {
            do { if let record = try result.get() { finished.insert(record) } } catch { failure = error }
          }
        }
      }
      try await ledger.forgetOwned(finished)
    }
    if let failure { throw failure }
  }

  /// - Parameter requests: ended ones of a record, whose ends are to be told now.
  /// - Returns: the record, if it is finished.
  private func tell(_ requests: [UnfiledRequest]) async throws -> RecordID? {
    guard let request = requests.first, let record = request.record,
      let origin = request.digest.flatMap({ HostID($0) }), let conversation = request.conversation
    else { return nil }
    let partition = Partition(of: conversation)
    guard let owned = await partitions.handle(of: partition) else { throw QueueError.lost }
    var ended = try await ledger.ended(record)
    if ended.isEmpty {
      var isOver = false
      for request in requests {
        try await tellAlone(request, of: record, from: origin)
        isOver = try await ledger.markTold(request.row, of: record)
      }
      guard isOver else { return nil }
      ended = try await ledger.ended(record)
      // The partition was left meanwhile.
      if ended.isEmpty { throw QueueError.lost }
    }
    if request.id != record {
      ended.removeAll(where: \.isTold)
      for request in ended where request.state != .sent { try await tellAlone(request, of: record, from: origin) }
      ended.removeAll { $0.state != .sent }
    }
    try await conclude(ended, as: record, from: origin)
    do {
      let orders = try await ledger.orders(toCancel: record)
      try await owned.finish(request.inode)
      for order in orders { try await owned.finish(order) }
    } catch QueueError.lost {
      await partitions.lost(partition, owned)
      throw QueueError.lost
    }
    let photos = request.messages.map(\.own).filter(\.kind.hasPhoto).map(\.position)
    if !photos.isEmpty { await bytes.remove(photos, of: record) }
    return record
  }

  /// Tells the end of one request of several, unless an earlier owner has told all ends of its record.
  private func tellAlone(_ request: UnfiledRequest, of record: RecordID, from origin: HostID) async throws {
    guard let id = request.id else { return }
    if request.state != .sent, try await link.queue.fact(of: record, from: origin) != nil { return }
    try await conclude([request], as: id, from: origin)
  }

  private func conclude(_ requests: [UnfiledRequest], as id: RecordID, from origin: HostID) async throws {
    let fact = try link.seal.fact(requests.compactMap { RequestEnd($0) }, of: id)
    let standing = try await link.queue.conclude(fact, of: id, from: origin)
    for end in (try? link.seal.ends(standing, of: id)) ?? [] {
      log.info("request \(end.state.rawValue) for its origin", metadata: ["request": "\(end.request)@\(end.id)"])
    }
  }
}
