import Ledgers
import Messages

/// Requests come in, drafts with them, and go to their last place.
extension Simulation {
  func request(_ drop: World.Drop) -> NewRequest {
    let parts = drop.files.map { file in
      NewRequest.Part(
        message: { MessageID(unchecked: "\($0)/\(drop.inode)/\(file)") }, kind: file == "text" ? .text : .photo,
        file: file,
        bytes: 5, digest: "\(drop.inode)-\(file)")
    }
    let contents = NewRequest.Contents(
      conversation: ConversationID(unchecked: drop.conversation), key: drop.key, digest: drop.digest, parts: parts)
    return NewRequest(
      droppedAs: drop.name, inode: drop.inode, born: 1, inbox: InboxID(unchecked: "me"),
      contents: drop.isBad ? .failure(DeliveryError(.malformedRequest, "bad")) : .success(contents))
  }

  private static let alternative: @Sendable (String, Int) -> String = { $1 == 1 ? $0 : "\($0).\($1)" }

  /// Accepts what has come, in one transaction, or renames what was accepted: these are two steps.
  func intake() async throws {
    if let drop = memory.entering.first {
      memory.entering.removeFirst()
      world.new.removeAll { $0.inode == drop.inode }
      return
    }
    var batch = Array(world.new.filter { !memory.closed.contains($0.conversation) }.prefix(4))
    if plant == .ordersByName { batch.sort { $0.name < $1.name } }
    if batch.isEmpty { return }
    let answers = try await ledger.accept(
      batch.map(request), at: now, isTaken: { _ in false }, alternative: Self.alternative)
    memory.entering = batch
    for (drop, answer) in zip(batch, answers) {
      note("accepted \(drop.inode) as \(answer.request): \(answer.state.rawValue)\(answer.wasKnown ? ", known" : "")")
      try await erase(answer.superseded)
      if answer.wasKnown { continue }
      world.accepted[answer.request] = drop
      guard answer.state == .queued else { continue }
      for (position, file) in drop.files.enumerated() {
        let message = MessageID(unchecked: "\(answer.request)/\(drop.inode)/\(file)")
        // What of a request that came back was published stays so.
        if oracle.hasAppeared(message.text) { continue }
        oracle.accepted(
          message, .init(inode: drop.inode, file: file), to: drop.conversation, arrival: drop.arrival,
          position: position)
      }
    }
  }

  // MARK: Drafts

  /// Notes a draft, or one of its photos is uploaded ahead.
  func lookAtDraft() async throws {
    if let draft = world.drafts.last, !memory.closed.contains(draft.conversation), random.below(2) == 0 {
      let entry = try await ledger.enterDraft(
        request(draft), at: now, isTaken: { _ in false }, alternative: Self.alternative)
      note("draft \(draft.inode): \(entry?.change.rawValue ?? "none")")
      if let entry { try await erase(entry.superseded) }
      for replaced in try await ledger.replacedDrafts() {
        // The file is what counts: one that was sent is in draft/ no more.
        guard world.drafts.contains(where: { $0.inode == replaced.inode }) else { continue }
        world.drafts.removeAll { $0.inode == replaced.inode }
        _ = try await ledger.abandonDraft(replaced)
        note("draft \(replaced.inode) is replaced")
      }
      return
    }
    guard let (photo, next) = try await ledger.draftPhotos(limit: 1).first, memory.held[photo.message] == nil,
      next.map({ $0 <= now }) ?? true, !memory.closed.contains(photo.conversation.text)
    else { return }
    guard try await ledger.beginPreparing(photo) else { return }
    let object = object()
    guard try await beginUpload(photo, object) else { return }
    switch faults.outcome("store", &random) {
    case .done:
      world.objects.insert(object)
      if try await ledger.endUploading(photo) {
        memory.held[photo.message] = object
        note("ahead \(photo.message): \(object)")
      } else {
        try await ledger.abandonUploads(of: [photo.message])
      }
    case .failed(let error), .lost(let error):
      world.objects.insert(object)
      try await ledger.abandonUploads(of: [photo.message])
      _ = try await ledger.postponeDraftPhoto(photo, error: error, until: now.advanced(seconds: 1))
    }
  }

  /// Removes what is left of drafts that were set aside.
  func endDrafts() async throws {
    for (row, photos) in try await ledger.abandonedDrafts(limit: 8) {
      try await erase(photos)
      try await ledger.forgetAbandonedDraft(row)
    }
  }

  private func erase(_ photos: [SupersededPhoto]) async throws {
    for photo in photos {
      memory.held[photo.message] = nil
      try await ledger.abandonUploads(of: [photo.message])
      _ = try await ledger.forgetPhoto(of: photo.message)
    }
  }

  // MARK: Last places

  func file() async throws {
    if !memory.filing.isEmpty {
      try await ledger.markFiled(memory.filing)
      memory.filing = []
      return
    }
    for request in try await ledger.unfiled(limit: 4) where !world.new.contains(where: { $0.inode == request.inode }) {
      note("filed \(request.request): \(request.state.rawValue)")
      memory.filing.append(request.row)
      if request.state == .failed, let drop = world.accepted[request.request],
        !world.failed.contains(where: { $0.inode == drop.inode })
      {
        world.failed.append(drop)
      }
    }
  }
}
