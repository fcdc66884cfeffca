import Blocking
import Control
import DurableFiles
import Janitor
import Ledgers
import Messages
import Signalling
import Spooling

/// Carries out commands, in the daemon or, without one, in the command itself.
package struct CommandHandler: Sendable {
  /// Work in progress that a command may affect.
  struct Work: Sendable {
    let photos: PhotoPipeline
    let circuits: Circuits
    let receiving: PhotoReceiving?
    let troubles: Troubles
    let reports: Reports
    let closed: ClosedConversations
    let clearer: Clearer
    let checks: CheckRounds
    let checkSpool: @Sendable () async throws -> [ControlReply.Outcome]
    let plan: PlanInForce
    let looking = BlockingPool(label: "objects", threads: 1)
    /// nil without a cluster.
    var cluster: ClusterOrders?
  }

  let spool: Spool
  package let ledger: Ledger
  var signals = DaemonSignals()
  /// nil without a daemon.
  var work: Work?

  package func perform(_ request: ControlRequest) async -> ControlReply {
    do {
      switch request {
      case .cancel(let names):
        return ControlReply(outcomes: try await cancel(names))
      case .hold(let conversations):
        return ControlReply(outcomes: try await setHeld(true, conversations))
      case .release(let conversations):
        return ControlReply(outcomes: try await setHeld(false, conversations))
      case .flush:
        await work?.circuits.closeAll()
        await work?.receiving?.listeners.hurry()
        let count = try await ledger.flush(at: .now())
        signals.ringAll()
        try await work?.cluster?.flush()
        let what = counted(count, "conversation that was waiting is", "conversations that were waiting are")
        return ControlReply(outcomes: [ControlReply.Outcome("", isDone: true, "\(what) tried now")])
      case .reveal(let messages): return ControlReply(outcomes: try await reveal(messages))
      case .hide(let messages): return ControlReply(outcomes: try await hide(messages))
      case .want(let messages): return ControlReply(outcomes: try await want(messages))
      case .viewed(let message):
        let isDone = try await ledger.viewed(MessageID(unchecked: message), at: .now())
        return ControlReply(outcomes: [ControlReply.Outcome(message, isDone: isDone, isDone ? "viewed" : "not known")])
      case .prefer(let conversation, let fetch, let autoReveal):
        return try await prefer(ConversationID(conversation), fetch: fetch, autoReveal: autoReveal)
      case .preferInInbox(let inbox, let fetch): return try await prefer(inbox: InboxID(inbox), fetch: fetch)
      case .clear(let inbox, let conversation):
        return try await clear(
          inbox: inbox.map { try InboxID($0) }, conversation: conversation.map { try ConversationID($0) })
      case .progress:
        let progress = (work?.photos.progress ?? [:]).merging(work?.receiving?.receiver.progress ?? [:]) { $1 }
        return ControlReply(
          progress: Dictionary(progress.map { ($0.key.text, $0.value) }) { $1 }, trouble: work?.troubles.current)
      case .metrics: return ControlReply(metrics: await metrics())
      case .check:
        guard let work else { return ControlReply(error: "no daemon runs whose destinations could be tested") }
        guard let outcomes = await work.checks.answers() else {
          return ControlReply(error: "the daemon stops before its destinations have answered")
        }
        return ControlReply(outcomes: outcomes)
      case .checkSpool:
        guard let work else { return ControlReply(error: "no daemon runs that could check its spool") }
        return ControlReply(outcomes: try await work.checkSpool())
      case .destinations: return ControlReply(destinations: await destinations())
      case .objects:
        guard let work else { return ControlReply(error: "no daemon runs that could look at its stores") }
        let directories = work.plan.destinations.objectDirectories
        let use = try await work.looking.run { try ObjectDirectories(directories).use() }
        return ControlReply(objects: ControlReply.Objects(count: use.objects, bytes: use.bytes))
      case .listening: return ControlReply(outcomes: await work?.receiving?.report() ?? [])
      }
    } catch {
      return ControlReply(error: "\(error)")
    }
  }

  /// Metrics that only the daemon has.
  private func metrics() async -> String {
    guard let work else { return "" }
    // The caller may have changed the ledger, as the janitor does.
    work.reports.wake()
    return (await work.reports.families() + (work.receiving?.metrics() ?? [])).map(\.text).joined()
  }

  private func destinations() async -> [ControlReply.Destination] {
    guard let work else { return [] }
    let (destinations, circuits) = (work.plan.destinations, work.circuits)
    var reports: [ControlReply.Destination] = []
    var names: Set<String> = []
    let cluster = work.cluster == nil ? [] : [ClusterLink.destination, ClusterLink.bytesDestination]
    for name in destinations.stores.map(\.name) + destinations.networks.map(\.network.name) + cluster
    where names.insert(name).inserted { reports.append(await circuits.report(on: name)) }
    return reports
  }

  // MARK: Cancel

  /// The state of cancelling a request.
  fileprivate struct Cancelling: Sendable {
    let end: Cancellation
    /// The request, if it has begun but may still wait in a batch: soon it can perhaps be cancelled.
    var begun: String?
  }

  /// Cancels requests. Those that have begun are checked again together, after the others.
  private func cancel(_ names: [String]) async throws -> [ControlReply.Outcome] {
    var looks = [Cancelling]()
    for name in names { looks.append(try await cancel(name)) }
    if looks.contains(where: { $0.begun != nil }) {
      try? await Task.sleep(for: BatchSize.time * 2)
      for (index, look) in looks.enumerated() {
        // Without a second check the first result stands.
        if let request = look.begun { looks[index] = (try? await cancelAccepted(request)) ?? look }
      }
    }
    return zip(names, looks).map { outcome($0, $1.end) }
  }

  private func cancel(_ name: String) async throws -> Cancelling {
    if try await cancelDraft(name) { return Cancelling(end: .cancelled) }
    // The newest request of that name counts. new/ is checked under the lock, when nothing is being accepted.
    if try RequestName(name) == nil || spool.new.entry(name) == nil, let request = try await ledger.newest(name) {
      let accepted = try await cancelAccepted(request)
      if accepted.end != .unknown { return accepted }
    }
    // It may be in new/, or be being accepted right now.
    return try await signals.new.withLock { try await cancelOrTakeBack(name) }
  }

  private func cancelOrTakeBack(_ name: String) async throws -> Cancelling {
    // In the order of moves, so that none is missed.
    for directory in [spool.draft, spool.new] {
      if let entry = try RequestName(name).flatMap({ try directory.entry($0.text) }),
        let request = try await ledger.arriving(inode: entry.inode, born: entry.born)
      {
        let accepted = try await cancelAccepted(request)
        if accepted.end != .unknown { return accepted }
      }
      guard let taken = try spool.takeAway(name, from: directory) else { continue }
      for draft in try await ledger.drafts(droppedAs: name) where draft.identity == taken.identity {
        try await ledger.abandonDraft(draft)
        signals.ringAll()
      }
      // It is cancelled, even if the disk is too full to record it.
      if directory === spool.new { try? await remember(taken, droppedAs: name) }
      try taken.delete()
      return Cancelling(end: .cancelled)
    }
    guard let request = try await ledger.newest(name) else { return Cancelling(end: .unknown) }
    return try await cancelAccepted(request)
  }

  /// Records a cancelled request that was never accepted, for `show`.
  private func remember(_ taken: TrashedEntry, droppedAs name: String) async throws {
    let goal = try? RequestReader.goal(of: taken.directory())
    // Nothing of a conversation that is being purged enters the ledger.
    if let conversation = goal?.conversation, work?.closed.now.contains(conversation) == true { return }
    try await ledger.enterCancelled(
      spool.freeName(for: name, in: ledger), droppedAs: name, inode: taken.identity.inode, born: taken.identity.born,
      to: goal?.conversation, from: goal?.inbox, at: .now())
  }

  /// Removes a draft by a rename out of `draft/`; false if there is none or it was just sent.
  private func cancelDraft(_ name: String) async throws -> Bool {
    guard let draft = try await ledger.draft(name),
      let taken = try spool.takeAway(draft.droppedAs, from: spool.draft, identity: draft.identity)
    else { return false }
    try await ledger.abandonDraft(draft)
    signals.ringAll()
    try taken.delete()
    return true
  }

  private func cancelAccepted(_ request: String) async throws -> Cancelling {
    if let end = try await work?.cluster?.cancel(request) { return Cancelling(end: end) }
    let (cancellation, messages) = try await ledger.cancel(request, at: .now())
    if !messages.isEmpty {
      try await work?.photos.discard(messages)
      let cache = PhotoCache(spool)
      for message in messages {
        guard let photo = try await ledger.forgetPhoto(of: message) else { continue }
        try cache.discard(photo)
      }
    }
    signals.ringAll()
    guard messages.isEmpty, case .partly = cancellation else { return Cancelling(end: cancellation) }
    return Cancelling(end: cancellation, begun: request)
  }

  private func outcome(_ name: String, _ cancellation: Cancellation) -> ControlReply.Outcome {
    switch cancellation {
    case .unknown:
      .init(name, isDone: false, "no request of that name is known; see `photospool queue`")
    case .asked:
      .init(name, isDone: false, "its owner in the cluster was asked and has not answered; `photospool show` will tell")
    case .cancelled:
      .init(name, isDone: true, "cancelled; nothing of it was published")
    case .partly(let published):
      .init(name, isDone: false, "too late for \(published.joined(separator: ", ")); the rest is cancelled")
    case .tooLate(let state):
      .init(name, isDone: state == .cancelled, "too late: it is \(state.rawValue) already")
    }
  }

  // MARK: Hold and release

  private func setHeld(_ isHeld: Bool, _ conversations: [String]) async throws -> [ControlReply.Outcome] {
    var outcomes = [ControlReply.Outcome]()
    for text in conversations {
      do {
        let hasChanged = try await ledger.setHeld(isHeld, ConversationID(text), at: .now())
        // Another host of the cluster may know the conversation.
        guard hasChanged != nil || work?.cluster != nil else {
          outcomes.append(.init(text, isDone: false, "no conversation of this name is known; nothing was released"))
          continue
        }
        try await work?.cluster?.setHeld(isHeld, ConversationID(text))
        let state = isHeld ? "held" : "released"
        outcomes.append(.init(text, isDone: true, hasChanged != false ? state : "\(state) already"))
      } catch let error as IdentifierError {
        outcomes.append(.init(text, isDone: false, error.description))
      }
    }
    signals.ringAll()
    return outcomes
  }
}
