import CKernel
import DurableFiles
import Ledgers
import Messages
import Signalling
import Spooling

/// Requests whose files the disk did not confirm once. Their data may be lost, and a second sync could falsely succeed,
/// so they are always refused.
typealias UnconfirmedRequests = InForce<[RequestIdentity: DeliveryError]>

/// Refused requests in `new/` that the daemon may not move, with the times of their last change. They stay until their
/// owner changes them.
typealias UnmovableEntries = InForce<[RequestIdentity: Int64]>

/// A batch of requests, read, checked and synced, for one transaction.
struct IntakeBatch: Sendable {
  /// The number of names handled; the rest is for the next batch.
  private(set) var taken = 0
  private(set) var requests: [NewRequest] = []
  /// Refused requests that the daemon may not move, to be ignored once the ledger has them.
  private(set) var outOfReach: [(identity: RequestIdentity, changed: Int64, index: Int)] = []
  /// The places of requests whose own names the spool has.
  private(set) var namesTaken: [Int] = []
  /// Conversations with a request that was set aside, whose later requests wait.
  private(set) var setAside: Set<ConversationID> = []

  /// Enough to make one sync worthwhile, within the process's limit.
  private static let openFiles = min(768, max(32, ckernel_allow_descriptors(0) / 4))
  private static let bytes = 64_000_000
  /// Attempts to read a request with disk errors.
  private static let readings = 3
  /// The time for reading and syncing a batch, so that others get answers between two batches even on a slow disk.
  private static let patience = Duration.seconds(5)

  /// Reads requests from the front of `names` until the batch is full, then syncs as many as there is time for, and
  /// `new/`.
  ///
  /// - Parameters:
  ///   - waiting: conversations whose requests are skipped.
  ///   - unconfirmed: requests that the disk did not confirm, now or earlier.
  ///   - unmovable: entries to skip while they are unchanged.
  ///   - open: requests set aside because a program still writes them.
  /// - Throws: errors that no request caused: no descriptors, no `new/`, a failing disk.
  init(
    _ names: ArraySlice<String>, in spool: Spool, inbox: InboxID, except waiting: Set<ConversationID> = [],
    unconfirmed: UnconfirmedRequests, unmovable: UnmovableEntries, open stillOpen: OpenRequests
  ) throws {
    let readings = try read(
      names, in: spool.new, inbox: inbox, except: waiting, unconfirmed: unconfirmed, unmovable: unmovable,
      open: stillOpen)
    try sync(readings, in: spool, unconfirmed: unconfirmed)
    settleNames(in: spool)
    for (index, request) in requests.enumerated() {
      if request.born == 0, let error = try? spool.new.directory(request.droppedAs).error() {
        requests[index].isMarked = { error.hasPrefix(escaped($0)) }
      }
    }
  }

  /// A valid request, with its place in the batch and the number of names before it.
  private typealias Reading = (index: Int, before: Int, reader: RequestReader)

  private mutating func read(
    _ names: ArraySlice<String>, in new: Directory, inbox: InboxID, except waiting: Set<ConversationID>,
    unconfirmed: UnconfirmedRequests, unmovable: UnmovableEntries, open stillOpen: OpenRequests
  ) throws -> [Reading] {
    var readings: [Reading] = []
    var (open, size) = (0, 0)
    let start = ContinuousClock.now
    for name in names {
      if taken > 0, start.duration(to: .now) > Self.patience { break }
      if open >= Self.openFiles || size >= Self.bytes || requests.count >= Self.openFiles { break }
      taken += 1
      guard let entry = try new.entry(name), unmovable.now[RequestIdentity(entry)] != entry.changed,
        !refuse(name, entry, in: new, inbox: inbox)
      else { continue }
      var from = inbox
      let contents: Result<NewRequest.Contents, DeliveryError>
      do {
        if let fault = unconfirmed.now[RequestIdentity(entry)] { throw fault }
        let reader = try Self.read(name, in: new)
        let conversation = reader.request.conversation(defaultInbox: inbox)
        if waiting.contains(conversation) || setAside.contains(conversation) { continue }
        readings.append((requests.count, taken - 1, reader))
        from = reader.request.inbox ?? inbox
        open += reader.openFiles
        size += reader.request.bytes
        contents = .success(NewRequest.Contents(reader.request, RequestIdentity(entry), defaultInbox: inbox))
      } catch let fault as DeliveryError {
        contents = .failure(fault)
      } catch let refusal as Refusal {
        if case .stillOpen = refusal {
          let conversation = try? RequestReader.conversation(of: new.directory(name), defaultInbox: inbox)
          if stillOpen.setAside(name, conversation: conversation) {
            if let conversation { setAside.insert(conversation) }
            continue
          }
        }
        contents = .failure(DeliveryError(.malformedRequest, refusal.description))
      } catch let error as FileError {
        if error.isMissing, try new.entry(name) == nil { continue }
        if error.isPassing { throw error }
        contents = .failure(
          error.isOfDisk
            ? Self.fault(error) : DeliveryError(.malformedRequest, Refusal.unreadable(error.description).description))
      }
      requests.append(
        NewRequest(droppedAs: name, inode: entry.inode, born: entry.born, inbox: from, contents: contents))
    }
    return readings
  }

  /// Refuses an entry that is no request or cannot be moved; false for any other. This is done before reading: a request
  /// that cannot be moved must not be sent.
  private mutating func refuse(_ name: String, _ entry: Entry, in new: Directory, inbox: InboxID) -> Bool {
    let isRequest = RequestName(name) != nil && entry.kind == .directory
    let mayTake = new.mayTake(name)
    if isRequest && mayTake { return false }
    let refusal = isRequest ? nil : NewRequest(refused: entry, named: escaped(name), droppedAs: name, inbox: inbox)
    requests.append(
      refusal
        ?? NewRequest(
          droppedAs: name, inode: entry.inode, born: entry.born, inbox: inbox,
          contents: .failure(DeliveryError(.malformedRequest, Refusal.outOfReach.description))))
    if entry.kind == .directory && !mayTake {
      outOfReach.append((RequestIdentity(entry), entry.changed, requests.count - 1))
    }
    return true
  }

  /// Syncs the requests and `new/`. Requests that there is no time for leave the batch; the next one begins with them.
  private mutating func sync(_ readings: [Reading], in spool: Spool, unconfirmed: UnconfirmedRequests) throws {
    let isTogether = spool.syncs(together: readings.map(\.reader))
    if !isTogether { for (_, _, reader) in readings { reader.startWriting() } }
    let begin = ContinuousClock.now
    for (index, before, reader) in readings {
      if index > 0, begin.duration(to: .now) > Self.patience {
        requests.removeSubrange(index...)
        outOfReach.removeAll { $0.index >= index }
        taken = before
        break
      }
      do { if isTogether { try reader.checkWritten() } else { try reader.sync() } } catch let error as FileError {
        let old = requests[index]
        let fault = Self.fault(error)
        // Recorded even if this batch is dropped and read again.
        unconfirmed.change { $0[RequestIdentity(inode: old.inode, born: old.born)] = fault }
        requests[index] = NewRequest(
          droppedAs: old.droppedAs, inode: old.inode, born: old.born, inbox: old.inbox, contents: .failure(fault))
      }
    }
    if !requests.isEmpty && !isTogether { try spool.new.sync() }
  }

  private static func fault(_ error: FileError) -> DeliveryError {
    DeliveryError(.localStorageError, "\(error); repair the disk, then drop the request again")
  }

  /// Entries whose names are not UTF-8, which are refused.
  init(foreign names: [[UInt8]], in spool: Spool, inbox: InboxID) throws {
    for name in names {
      guard let entry = try spool.new.entry(bytes: name) else { continue }
      requests.append(
        NewRequest(refused: entry, named: escaped(name: name), droppedAs: escaped(name: name), inbox: inbox))
    }
    settleNames(in: spool)
  }

  /// Gives each request its own name.
  private mutating func settleNames(in spool: Spool) {
    for index in requests.indices {
      requests[index].name = RequestName.alternative(of: requests[index].droppedAs, 1)
      if spool.has(requests[index].name) { namesTaken.append(index) }
    }
  }

  /// Reads a request, with a second chance after disk errors and stale handles of file servers. A disk that does not
  /// answer must not delay others.
  private static func read(_ name: String, in new: Directory) throws -> RequestReader {
    for _ in 1..<readings {
      do { return try RequestReader(new.directory(name), patience: 0) } catch let error as FileError
        where error.isOfDisk
      {}
    }
    return try RequestReader(new.directory(name), patience: 0)
  }
}

extension Spool {
  /// The first alternative of a dropped name that neither the spool nor the ledger has.
  ///
  /// - Parameter others: names that other requests are about to get.
  func freeName(for dropped: String, in ledger: Ledger, except others: Set<String> = []) async throws -> String {
    for number in 1..<1_000_000 {
      let name = RequestName.alternative(of: dropped, number)
      if others.contains(name) || has(name) { continue }
      if try await ledger.unknownRequests({ try $0([name]) }).count == 1 { return name }
    }
    throw DeliveryError(.conflict, "no name is free for \(dropped)")
  }

  /// Syncs many texts with their directories and `new/` at once. Not photos, because their files must be synced in
  /// order. Returns false if each must be synced singly.
  fileprivate func syncs(together crowd: [RequestReader]) -> Bool {
    guard let fileSystem, !crowd.contains(where: { $0.request.parts.contains(where: \.kind.hasPhoto) }) else {
      return false
    }
    return fileSystem.isQuick(for: crowd.count) && fileSystem.sync()
  }
}

extension NewRequest {
  /// An entry of `new/` that is not a request, or has an invalid name.
  fileprivate init(refused entry: Entry, named name: String, droppedAs: String, inbox: InboxID) {
    let refusal = entry.kind == .directory ? Refusal.badName : .notADirectory(entry.kind.noun)
    self.init(
      droppedAs: droppedAs, inode: entry.inode, born: entry.born, inbox: inbox,
      contents: .failure(DeliveryError(.malformedRequest, "\(name): \(refusal)")))
  }
}

extension NewRequest.Contents {
  /// - Parameter defaultInbox: for a request without an inbox.
  init(_ request: Request, _ identity: RequestIdentity, defaultInbox: InboxID) {
    self.init(
      conversation: request.conversation(defaultInbox: defaultInbox), key: request.key?.text,
      digest: request.digest.hex,
      parts: request.parts.map { part in
        NewRequest.Part(
          message: { identity.message(part.file, of: $0) }, kind: part.kind, file: part.file, bytes: part.bytes,
          digest: part.digest.hex)
      })
  }
}
