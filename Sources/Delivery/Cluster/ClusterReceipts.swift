import Clusters
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Spooling

/// Reads the facts of this host's requests into its ledger; `Filing` then files them.
struct ClusterReceipts: Service, HasCore {
  let core: DeliveryCore
  let link: ClusterLink

  private static let work = "receipts cannot be read from the cluster"
  private static let batch = 256

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do { try await readAll() } catch {
          if Task.isCancelled { return }
          troubles.tell(Self.work, error)
          try? await Task.sleep(for: link.times.beat)
        }
      }
    }
  }

  private func readAll() async throws {
    var last = try await ledger.lastFactRead()
    while !Task.isCancelled {
      let facts = try await link.queue.facts(for: link.host, after: last, limit: Self.batch)
      troubles.end(Self.work)
      guard let end = facts.last?.position else { continue }
      try await record(facts.map { ($0.id, $0.fact) }, upTo: end)
      last = end
    }
  }

  /// - Parameter position: nil for facts that were looked up.
  func record(_ facts: [(id: RecordID, fact: [UInt8])], upTo position: Position?) async throws {
    let ends = facts.flatMap { fact -> [RequestEnd] in
      do throws(SealedError) { return try link.seal.ends(fact.fact, of: fact.id) } catch {
        log.error("a receipt in the cluster cannot be read", metadata: ["error": "\(error)"])
        return []
      }
    }
    let count = try await ledger.end(
      ends, relayedBy: link.host, upTo: position,
      path: { $0.path }, remoteUntil: Timestamp.now().advanced(seconds: plan.now.settings.cache.remote.seconds),
      at: .now())
    if count > 0 {
      signals.filing.ring()
      signals.dispatcher.ring()
    }
  }
}

/// Looks for relayed requests that have no end yet. One that is in neither the queue nor the facts was lost by the cluster:
/// it is relayed again under its ids, and then comes behind what followed it.
struct LostRequests: Service, HasCore {
  let receipts: ClusterReceipts
  private let bell = Bell()

  private static let batch = 64

  var core: DeliveryCore { receipts.core }
  private var link: ClusterLink { receipts.link }

  func run() async throws {
    let pause = link.times.search / .seconds(1)
    var last: Int64 = 0
    bell.ring(in: pause)
    await bell.serve {
      last = try await search(after: last)
      bell.ring(in: pause)
    } failed: { error in
      log.debug("relayed requests are looked for later", metadata: ["error": "\(error)"])
      return pause
    }
  }

  /// Looks for all relayed requests after `row`. Returns where the next search begins.
  private func search(after row: Int64) async throws -> Int64 {
    var last = row
    let before = Timestamp.now().advanced(seconds: -(link.times.search / .seconds(1)))
    while !Task.isShuttingDownGracefully {
      let relayed = try await ledger.relayed(after: last, before: before, limit: Self.batch)
      guard let end = relayed.last?.row else { return 0 }
      var found: (record: RecordID, isThere: Bool)?
      for request in relayed {
        let id = RecordID(host: link.host, request: request.request, acceptedAt: request.acceptedAt)
        let record = request.record ?? id
        // Requests of one record follow each other.
        if found?.record != record {
          found = (record, try await link.queue.find(record, in: Partition(of: request.conversation)) != nil)
        }
        if found?.isThere != true { try await lookFor(request, as: record == id ? [id] : [record, id]) }
      }
      last = end
    }
    return last
  }

  /// Looks for the end of a request whose record is not in the queue.
  private func lookFor(_ request: RelayedRow, as ids: [RecordID]) async throws {
    for id in ids {
      if let fact = try await link.queue.fact(of: id, from: link.host) {
        try await receipts.record([(id, fact)], upTo: nil)
        if try await ledger.end(of: request.row) != nil { return }
      }
    }
    guard try await ledger.relayAgain(request, at: .now()) else { return }
    log.warning("the cluster has lost a request; it is relayed again", metadata: ["request": "\(request.request)"])
    signals.dispatcher.ring()
  }
}
