import Blocking
import Control
import DurableFiles
import Ledgers
import Logging
import Messages
import Spooling

/// Carries out what people ask for, the same way in the daemon and, while none runs, in the command itself.
public struct CommandHandler: Sendable {
  /// What a change means for work in hand; nothing where there is none.
  struct Hooks: Sendable {
    /// Stops what is on its way for these messages.
    var discard: @Sendable ([MessageID]) async throws -> Void = { _ in }
    /// Runs a job while no request is half-way into the ledger.
    var betweenBatches: @Sendable (@escaping @Sendable () async -> Void) async -> Void = { await $0() }
    /// Forgets which destinations did not work.
    var closeCircuits: @Sendable () async -> Void = {}
    /// Something may have become due, be over, or be left to delete.
    var wake: @Sendable () -> Void = {}
    var progress: @Sendable () -> [MessageID: Double] = { [:] }
    /// Why the daemon itself cannot go on.
    var trouble: @Sendable () -> String? = { nil }
    /// What only the daemon measures.
    var metrics: @Sendable () async -> String = { "" }
    /// How listening to networks goes.
    var listening: @Sendable () async -> [ControlReply.Outcome] = { [] }
  }

  let spool: Spool
  public let ledger: Ledger
  let hooks: Hooks

  init(spool: Spool, ledger: Ledger, hooks: Hooks) {
    self.spool = spool
    self.ledger = ledger
    self.hooks = hooks
  }

  /// Carries out one command.
  public func perform(_ request: ControlRequest) async -> ControlReply {
    do {
      switch request {
      case .cancel(let names):
        return ControlReply(outcomes: try await cancel(names))
      case .hold(let conversations):
        return ControlReply(outcomes: try await setHeld(true, conversations))
      case .release(let conversations):
        return ControlReply(outcomes: try await setHeld(false, conversations))
      case .flush:
        await hooks.closeCircuits()
        let count = try await ledger.flush(at: .now())
        hooks.wake()
        let what = count == 1 ? "1 conversation that was waiting is" : "\(count) conversations that were waiting are"
        return ControlReply(outcomes: [ControlReply.Outcome("", isDone: true, "\(what) tried now")])
      case .reveal(let messages): return ControlReply(outcomes: try await reveal(messages))
      case .want(let messages): return ControlReply(outcomes: try await want(messages))
      case .viewed(let message):
        let isDone = try await ledger.viewed(MessageID(unchecked: message), at: .now())
        return ControlReply(outcomes: [ControlReply.Outcome(message, isDone: isDone, isDone ? "viewed" : "not known")])
      case .prefer(let conversation, let fetch, let autoReveal):
        return try await prefer(ConversationID(conversation), fetch: fetch, autoReveal: autoReveal)
      case .preferInInbox(let inbox, let fetch): return try await prefer(inbox: InboxID(inbox), fetch: fetch)
      case .progress:
        let progress = hooks.progress().map { ($0.key.text, $0.value) }
        return ControlReply(progress: Dictionary(progress) { $1 }, trouble: hooks.trouble())
      case .metrics:
        return ControlReply(metrics: await hooks.metrics())
      case .listening: return ControlReply(outcomes: await hooks.listening())
      }
    } catch {
      return ControlReply(error: "\(error)")
    }
  }

  // MARK: Cancel

  /// What became of a request that was to be cancelled, so far.
  fileprivate struct Cancelling: Sendable {
    let end: Cancellation
    /// The request that the name stands for; nil where the ledger does not know it.
    var request: String?
    /// It has begun and waits, perhaps, for its turn: then it is taken back soon, and can be cancelled.
    var mayBeTakenBack = false
  }

  /// Cancels requests. Those that have begun are looked at again, together, once all others are cancelled.
  private func cancel(_ names: [String]) async throws -> [ControlReply.Outcome] {
    var looks = [Cancelling]()
    for name in names { looks.append(try await cancel(name)) }
    if looks.contains(where: \.mayBeTakenBack) {
      try? await Task.sleep(for: BatchSize.time * 2)
      for index in looks.indices where looks[index].mayBeTakenBack {
        guard let request = looks[index].request else { continue }
        // Where it cannot be looked at again, what was found before is still so.
        looks[index] = (try? await cancelAccepted(request)) ?? looks[index]
      }
    }
    return zip(names, looks).map { outcome($0, $1.end) }
  }

  private func cancel(_ name: String) async throws -> Cancelling {
    if try await cancelDraft(name) { return Cancelling(end: .cancelled) }
    // The newest of that name counts. What lies in new/ is looked at when nothing of it can be half-way.
    if try RequestName(name) == nil || spool.new.entry(name) == nil, let request = try await ledger.newest(name) {
      let accepted = try await cancelAccepted(request)
      if accepted.end != .unknown { return accepted }
    }
    // It may lie in new/, or be half-way into the ledger at this moment.
    let answer = Answer()
    await hooks.betweenBatches { await answer.set(cancelOrTakeBack(name)) }
    return try await answer.get()
  }

  private func cancelOrTakeBack(_ name: String) async -> Result<Cancelling, any Error> {
    do {
      // In the order in which it is moved, so that it cannot slip by.
      for directory in [spool.draft, spool.new] {
        if let entry = try RequestName(name).flatMap({ try directory.entry($0.text) }),
          let request = try await ledger.arriving(inode: entry.inode, born: entry.born)
        {
          let accepted = try await cancelAccepted(request)
          if accepted.end != .unknown { return .success(accepted) }
        }
        guard let taken = try spool.takeAway(name, from: directory) else { continue }
        for draft in try await ledger.drafts(droppedAs: name) where draft.identity == taken.identity {
          try await ledger.abandonDraft(draft)
          hooks.wake()
        }
        // It is cancelled, even if the disk is too full to remember it.
        if directory === spool.new { try? await remember(taken, droppedAs: name) }
        try taken.delete()
        return .success(Cancelling(end: .cancelled))
      }
      guard let request = try await ledger.newest(name) else { return .success(Cancelling(end: .unknown)) }
      return .success(try await cancelAccepted(request))
    } catch {
      return .failure(error)
    }
  }

  /// Writes a request that was never accepted into the ledger as cancelled, for `show`.
  private func remember(_ taken: TrashedRequest, droppedAs name: String) async throws {
    let goal = try? RequestReader.goal(of: taken.directory())
    try await ledger.enterCancelled(
      droppedAs: name, inode: taken.identity.inode, born: taken.identity.born, to: goal?.conversation,
      from: goal?.inbox, at: .now(), isTaken: { [spool] in spool.has($0) },
      alternative: { RequestName.alternative(of: $0, $1) })
  }

  /// Removes a draft, which leaves `draft/` in one rename; false when there is none, or it was sent just now.
  private func cancelDraft(_ name: String) async throws -> Bool {
    guard let draft = try await ledger.draft(name),
      let taken = try spool.takeAway(draft.droppedAs, from: spool.draft, identity: draft.identity)
    else { return false }
    try await ledger.abandonDraft(draft)
    hooks.wake()
    try taken.delete()
    return true
  }

  private func cancelAccepted(_ request: String) async throws -> Cancelling {
    let (cancellation, messages) = try await ledger.cancel(request, at: .now())
    if !messages.isEmpty {
      try await hooks.discard(messages)
      let cache = PhotoCache(spool)
      for message in messages {
        guard let photo = try await ledger.forgetPhoto(of: message) else { continue }
        try cache.discard(inbox: photo.inbox, conversation: photo.conversation, message: photo.message)
      }
    }
    hooks.wake()
    guard messages.isEmpty, case .partly = cancellation else {
      return Cancelling(end: cancellation)
    }
    return Cancelling(end: cancellation, request: request, mayBeTakenBack: true)
  }

  private func outcome(_ name: String, _ cancellation: Cancellation) -> ControlReply.Outcome {
    switch cancellation {
    case .unknown:
      .init(name, isDone: false, "no request of that name is known; see `photospool queue`")
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
        let state = isHeld ? "held" : "released"
        outcomes.append(.init(text, isDone: true, hasChanged ? state : "\(state) already"))
      } catch let error as IdentifierError {
        outcomes.append(.init(text, isDone: false, error.description))
      }
    }
    hooks.wake()
    return outcomes
  }
}

/// One answer, handed from one task to another.
private actor Answer {
  private var result: Result<CommandHandler.Cancelling, any Error> = .success(.init(end: .unknown))
  func set(_ result: Result<CommandHandler.Cancelling, any Error>) { self.result = result }
  func get() throws -> CommandHandler.Cancelling { try result.get() }
}
