import GRDB
import Messages

@testable import Ledgers

/// What people ask for, and what the janitor and the sweeper do, in the midst of everything else.
extension Simulation {
  func cancel() async throws {
    let names = world.accepted.keys.sorted()
    guard !names.isEmpty else { return }
    let name = names[random.below(names.count)]
    let (cancellation, messages) = try await ledger.cancel(name, at: now)
    note("cancel \(name): \(cancellation), \(messages.count)")
    for message in messages { oracle.banned(message, because: "it was cancelled") }
    try await discard(messages)
    for message in messages { _ = try await ledger.forgetPhoto(of: message) }
  }

  /// Stops what is on its way for messages, and leaves their uploads to be deleted.
  private func discard(_ messages: [MessageID]) async throws {
    for message in messages { memory.held[message] = nil }
    for index in memory.workers.indices {
      guard let message = memory.workers[index].next.message, messages.contains(message.message) else { continue }
      switch memory.workers[index].next {
      case .prepare, .put, .endUpload: memory.workers[index].next = .look
      default: break
      }
    }
    try await ledger.abandonUploads(of: messages)
  }

  func setHeld() async throws {
    let conversation = Self.conversations[random.below(3)]
    let isHeld = random.below(2) == 0
    let hasChanged = try await ledger.setHeld(isHeld, ConversationID(unchecked: conversation), at: now)
    note("\(isHeld ? "held" : "released") \(conversation): \(hasChanged)")
    if random.below(3) == 0 {
      (memory.circuits, memory.refusals) = ([:], [:])
      note("flushed \(try await ledger.flush(at: now))")
    }
  }

  // MARK: Purges

  /// Orders a purge, seldom, or goes on with one.
  func purge() async throws {
    if !world.orders.isEmpty { return try await finishPurges() }
    guard random.below(3) == 0 else { return }
    let conversation = Self.conversations[random.below(3)]
    world.orders = [conversation]
    note("a purge of \(conversation) is ordered")
  }

  /// One step of what was ordered: its beginning, or its end.
  func finishPurges() async throws {
    guard let conversation = world.orders.first else { return }
    // Nothing may be half-way into the ledger.
    if !memory.entering.isEmpty { return }
    if let purged = memory.purging.first {
      try await finish(purged)
      return
    }
    memory.closed.insert(conversation)
    let purged = try await ledger.beginPurge(of: ConversationID(unchecked: conversation), at: now)
    note("begins to purge \(conversation)")
    for drop in (world.new + world.drafts).filter({ $0.conversation == conversation }) {
      note("removes \(drop.name) \(drop.inode)")
    }
    world.new.removeAll { $0.conversation == conversation }
    world.drafts.removeAll { $0.conversation == conversation }
    guard let purged else { return complete(conversation) }
    for message in purged.messages where !oracle.hasAppeared(message.text) {
      let isInHand = memory.workers.contains { $0.inHand.contains { $0.message.message == message } }
      // What the network has in hand may still appear.
      if !isInHand { oracle.banned(message, because: "it was purged") }
    }
    if plant != .purgesInHand {
      for worker in memory.workers where worker.conversation == purged.row {
        // The network was asked and nobody waits for its answer.
        for begun in worker.inHand {
          if random.below(2) == 0 { break }
          note("in hand of the network: \(begun.id)")
          try appear(begun.message, begun.id)
        }
      }
      memory.workers.removeAll { $0.conversation == purged.row }
    }
    try await discard(purged.messages)
    memory.purging = [purged]
  }

  private func finish(_ purged: PurgedConversation) async throws {
    memory.purging.removeFirst()
    let count = try await ledger.endPurge(of: purged)
    note("purged \(purged.conversation): \(count.requests) requests, \(count.photos) photos")
    let row = purged.row
    let left = try await ledger.read { database in
      try [
        "conversations WHERE id", "requests WHERE conversation_id", "messages WHERE conversation_id",
        "photos WHERE conversation_id",
      ].map { try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0) = \(row)") ?? 0 }.reduce(0, +)
    }
    if left > 0 && plant != .purgesInHand {
      throw BrokenPromise(description: "GONE: \(left) rows of \(purged.conversation) are left")
    }
    complete(purged.conversation.text)
  }

  private func complete(_ conversation: String) {
    world.orders = []
    memory.closed.remove(conversation)
    world.accepted = world.accepted.filter { $0.value.conversation != conversation }
    world.failed.removeAll { $0.conversation == conversation }
    oracle.purged(conversation)
  }

  // MARK: Deleting

  /// Deletes abandoned uploads from the store, one a step.
  func sweep() async throws {
    guard let upload = memory.deleting.first else {
      memory.deleting = try await ledger.claimAbandonedUploads(limit: 2)
      return
    }
    if case .failed = faults.outcome("store", &random) {
      memory.deleting = []
      try await ledger.unclaimAbandonedUploads()
      return
    }
    memory.deleting.removeFirst()
    world.objects.remove(upload.object)
    note("deleted \(upload.object)")
    try oracle.deleted(upload.object)
    try await ledger.forgetUpload(upload.row)
  }

  /// The janitor makes room. What is needed is pinned.
  func evict() async throws {
    let layer = CacheLayer.allCases[random.below(3)]
    let removed = Removed()
    let candidates = try await ledger.evictionCandidates(layer, inbox: nil, need: random.below(300))
    let (ended, marked) = try await ledger.evict(candidates) {
      removed.paths.append($0.path)
    }
    note("evicted \(ended.photos) and \(ended.thumbnails), marked \(marked.photos) and \(marked.thumbnails)")
    for path in removed.paths {
      let waits = try await ledger.read { database in
        try Bool.fetchOne(
          database,
          sql: """
            SELECT EXISTS (SELECT 1 FROM messages m JOIN requests r ON r.id = m.request_id
              WHERE m.message = ? AND r.state IN ('queued','draft'))
            """,
          arguments: [path])
      }
      if waits == true { throw BrokenPromise(description: "the photo of \(path) was evicted, which is needed") }
    }
  }
}

/// What was removed within a transaction, on the ledger's thread, which nobody else uses meanwhile.
private final class Removed: @unchecked Sendable {
  var paths: [String] = []
}
