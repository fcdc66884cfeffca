import Clusters
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Synchronization

/// Tells the origins how requests ended. Order for each: the outcome is committed here; the fact is made; the record is
/// finished; its rows are forgotten; its bytes are removed. A crash before the record is finished leaves it to the next owner;
/// one behind that may leave bytes.
final class OwnedEnds: Service {
  private let link: ClusterLink
  private let ledger: Ledger
  private let partitions: Partitions
  private let bell: Bell
  private let troubles: Troubles
  private let log: Logger

  /// Photos whose requests are over. A store that is away holds up no end.
  private let removable = Mutex<[RecordID: [Int]]>([:])

  private static let work = "ends of requests cannot be told to their origins"
  private static let (batch, atOnce) = (256, 64)

  init(link: ClusterLink, ledger: Ledger, partitions: Partitions, bell: Bell, troubles: Troubles, log: Logger) {
    self.link = link
    self.ledger = ledger
    self.partitions = partitions
    self.bell = bell
    self.troubles = troubles
    self.log = log
  }

  func run() async throws {
    bell.ring()
    await bell.serve { [self] in
      try await tellAll()
      try await removeBytes()
      troubles.end(Self.work)
    } failed: { [self] error in
      troubles.tell(Self.work, error)
      return 1
    }
    // Others find the rest out by themselves.
    try? await tellAll()
    try? await removeBytes()
  }

  private func tellAll() async throws {
    while true {
      let requests = try await ledger.unfiled(limit: Self.batch)
      if requests.isEmpty { return }
      var (told, failure) = ([Int64](), (any Error)?.none)
      for start in stride(from: 0, to: requests.count, by: Self.atOnce) {
        let chunk = requests[start..<min(start + Self.atOnce, requests.count)]
        await withTaskGroup(of: Swift.Result<Int64, any Error>.self) { group in
          for request in chunk {
            group.addTask { [self] in
              do {
                try await tell(request)
                return .success(request.row)
              } catch { return .failure(error) }
            }
          }
          for await result in group {
            switch result {
            case .success(let row): told.append(row)
            case .failure(let error): failure = error
            }
          }
        }
      }
      try await ledger.forgetOwned(told)
      if let failure { throw failure }
      if requests.count < Self.batch { return }
    }
  }

  private func removeBytes() async throws {
    for (record, photos) in removable.withLock(\.self) {
      try await link.bytes.remove(photos, of: record)
      removable.withLock { _ = $0.removeValue(forKey: record) }
    }
  }

  private func tell(_ request: UnfiledRequest) async throws {
    guard let record = request.record, let origin = request.digest.flatMap({ HostID($0) }),
      let conversation = request.conversation
    else { return }
    let partition = Partition(of: conversation)
    guard let owned = await partitions.handle(of: partition) else { throw QueueError.lost }
    let end = RequestEnd(request)
    let standing = try await link.queue.conclude(link.seal.fact(end, of: record), of: record, from: origin)
    do {
      try await owned.finish(request.inode)
      for order in try await ledger.orders(toCancel: request.request) { try await owned.finish(order) }
    } catch QueueError.lost {
      await partitions.lost(partition)
      throw QueueError.lost
    }
    let photos = request.messages.map(\.own).filter(\.kind.hasPhoto).map(\.position)
    if !photos.isEmpty { removable.withLock { $0[record] = photos } }
    let state = (try? link.seal.end(standing, of: record))?.state ?? request.state
    log.info("request \(state.rawValue) for its origin", metadata: ["request": "\(request.request)"])
  }
}
