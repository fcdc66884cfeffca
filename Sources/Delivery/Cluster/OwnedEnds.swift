import Clusters
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling

/// Tells the origins how requests ended. Order for each: the outcome is committed here; the fact is made; the record is
/// finished; its rows are forgotten. A crash before the record is finished leaves it to the next owner.
struct OwnedEnds: Service {
  let link: ClusterLink
  let ledger: Ledger
  let partitions: Partitions
  let bytes: OwnedBytes
  let bell: Bell
  let troubles: Troubles
  let log: Logger

  private static let work = "ends of requests cannot be told to their origins"
  private static let (batch, atOnce) = (256, 64)

  func run() async throws {
    bell.ring()
    await bell.serve {
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
    // Requests whose end cannot be told now hold up no others.
    while case let requests = try await ledger.unfiled(after: last, limit: Self.batch), let end = requests.last {
      last = end.row
      var told: [Int64] = []
      for start in stride(from: 0, to: requests.count, by: Self.atOnce) {
        let chunk = requests[start..<min(start + Self.atOnce, requests.count)]
        await withTaskGroup(of: Swift.Result<Int64, any Error>.self) { group in
          for request in chunk {
            group.addTask {
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
    }
    if let failure { throw failure }
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
      await partitions.lost(partition, owned)
      throw QueueError.lost
    }
    let photos = request.messages.map(\.own).filter(\.kind.hasPhoto).map(\.position)
    if !photos.isEmpty { await bytes.remove(photos, of: record) }
    let state = (try? link.seal.end(standing, of: record))?.state ?? request.state
    log.info("request \(state.rawValue) for its origin", metadata: ["request": "\(request.request)"])
  }
}
