import CKernel
import DurableFiles
import Foundation
import Ledgers
import Messages
import Spooling

/// Requests that were read, checked and synced, ready for one ledger transaction.
struct IntakeBatch: Sendable {
  /// How many of the names were dealt with; the rest is for the next batch.
  private(set) var taken = 0
  private(set) var requests: [NewRequest] = []
  /// Of those that are refused, what we may not take, to be left alone once the ledger has it.
  private(set) var outOfReach: [(identity: RequestIdentity, changed: Int64, index: Int)] = []
  /// Of the names of these requests, whether they are taken. Asked here, where the ledger does not wait for it.
  private var areTaken: [String: Bool] = [:]

  /// As many as make their one sync worth it, of what the process may have.
  private static let openFiles = min(768, max(32, ckernel_allow_descriptors(0) / 4))
  private static let bytes = 64_000_000
  /// How often a request is read that the disk does not read.
  private static let readings = 3
  /// No further request is read, nor synced, after that: also on a slow disk, or when many files are still open, others are
  /// answered between two batches.
  private static let patience = Duration.seconds(5)

  /// Reads requests from the front of `names` until the batch is full, then syncs those for which there is time, and `new/`.
  ///
  /// - Parameters:
  ///   - waiting: conversations whose requests are passed over for now; those come to it in which one is set aside.
  ///   - closed: the same, of which no more is read.
  ///   - unconfirmed: what the disk did not confirm, now or earlier.
  ///   - unmovable: what is passed over as long as nobody changes it.
  ///   - open: what is set aside, as a program still writes it.
  /// - Throws: what is no fault of a request: no descriptors left, `new/` gone, a disk that fails.
  init(
    _ names: ArraySlice<String>, in spool: Spool, inbox: InboxID, waiting: WaitingConversations,
    closed: Set<ConversationID> = [], unconfirmed: UnconfirmedRequests, unmovable: UnmovableEntries,
    open stillOpen: OpenRequests
  ) throws {
    let new = spool.new
    // Each with its place in the batch, and how many names came before its own.
    var readers: [(index: Int, before: Int, reader: RequestReader)] = []
    var open = 0
    var size = 0
    let start = ContinuousClock.now
    for name in names {
      if taken > 0, start.duration(to: .now) > Self.patience { break }
      if open >= Self.openFiles || size >= Self.bytes || requests.count >= Self.openFiles { break }
      taken += 1
      guard let entry = try new.entry(name) else { continue }
      if unmovable.has(RequestIdentity(entry), changed: entry.changed) { continue }
      let isRequest = RequestName(name) != nil && entry.kind == .directory
      guard isRequest, new.mayTake(name) else {
        // Before it is read: it could be sent, and never be moved.
        let refusal = isRequest ? nil : NewRequest(refused: entry, named: escaped(name), droppedAs: name, inbox: inbox)
        requests.append(
          refusal
            ?? NewRequest(
              droppedAs: name, inode: entry.inode, born: entry.born, inbox: inbox,
              contents: .failure(DeliveryError(.malformedRequest, Refusal.outOfReach.description))))
        if entry.kind == .directory && !new.mayTake(name) {
          outOfReach.append((RequestIdentity(entry), entry.changed, requests.count - 1))
        }
        continue
      }
      let contents: Result<NewRequest.Contents, DeliveryError>
      var from: InboxID?
      if let fault = unconfirmed[RequestIdentity(entry)] {
        requests.append(
          NewRequest(droppedAs: name, inode: entry.inode, born: entry.born, inbox: inbox, contents: .failure(fault)))
        continue
      }
      do {
        let reader = try Self.read(name, in: new)
        let conversation = reader.request.conversation(defaultInbox: inbox)
        if waiting.contains(conversation) || closed.contains(conversation) { continue }
        readers.append((requests.count, taken - 1, reader))
        from = reader.request.inbox
        open += reader.openFiles
        size += reader.request.bytes
        contents = .success(NewRequest.Contents(reader.request, RequestIdentity(entry), defaultInbox: inbox))
      } catch let refusal as Refusal {
        if case .stillOpen = refusal {
          let conversation = try? RequestReader.conversation(of: new.directory(name), defaultInbox: inbox)
          if stillOpen.setAside(name, conversation: conversation) {
            waiting.insert(conversation)
            continue
          }
        }
        contents = .failure(DeliveryError(.malformedRequest, refusal.description))
      } catch let error as FileError {
        if error.isMissing, try new.entry(name) == nil { continue }
        if error.isPassing { throw error }
        contents = .failure(
          error.isOfDisk
            ? DeliveryError(.localStorageError, "\(error); mend the disk, then drop the request again")
            : DeliveryError(.malformedRequest, Refusal.unreadable(error.description).description))
      }
      requests.append(
        NewRequest(droppedAs: name, inode: entry.inode, born: entry.born, inbox: from ?? inbox, contents: contents))
    }
    let isTogether = spool.syncs(together: readers.map(\.reader))
    if !isTogether { for (_, _, reader) in readers { reader.startWriting() } }
    let begin = ContinuousClock.now
    for (index, before, reader) in readers {
      if index > 0, begin.duration(to: .now) > Self.patience {
        // The next batch begins with it.
        requests.removeSubrange(index...)
        outOfReach.removeAll { $0.index >= index }
        taken = before
        break
      }
      do { if isTogether { try reader.checkWritten() } else { try reader.sync() } } catch let error as FileError {
        let old = requests[index]
        let fault = DeliveryError(.localStorageError, "\(error); mend the disk, then drop the request again")
        // Also when this batch comes to nothing and is read again.
        unconfirmed[RequestIdentity(inode: old.inode, born: old.born)] = fault
        requests[index] = NewRequest(
          droppedAs: old.droppedAs, inode: old.inode, born: old.born, inbox: old.inbox,
          contents: .failure(fault))
      }
    }
    if !requests.isEmpty && !isTogether { try new.sync() }
    for (index, request) in requests.enumerated() {
      areTaken[request.droppedAs] = spool.has(request.droppedAs)
      if request.born == 0, let error = try? new.directory(request.droppedAs).error() {
        requests[index].isMarked = { error.hasPrefix(escaped($0)) }
      }
    }
  }

  /// Entries whose names are no text. They are refused.
  init(foreign names: [[UInt8]], in spool: Spool, inbox: InboxID) throws {
    for name in names {
      guard let entry = try spool.new.entry(bytes: name) else { continue }
      requests.append(
        NewRequest(refused: entry, named: escaped(name: name), droppedAs: escaped(name: name), inbox: inbox))
    }
  }

  /// Whether a directory of that name is anywhere in the spool's later places.
  func isTaken(_ name: String, in spool: Spool) -> Bool { areTaken[name] ?? spool.has(name) }

  /// What a disk did not read it may read when it is asked again, and a handle of a file server that is stale is good once
  /// the name was looked up anew. A disk that stays silent must not keep others waiting, though.
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
  /// Syncs a crowd of texts at once, their directories and `new/` with them. Not photos: what has to reach the disk last of
  /// a request, should the power go meanwhile, is in nobody's hand then.
  ///
  /// - Returns: false when that is not possible, and each has to be synced by itself.
  fileprivate func syncs(together crowd: [RequestReader]) -> Bool {
    guard let fileSystem, !crowd.contains(where: { $0.request.parts.contains(where: \.kind.hasPhoto) }) else {
      return false
    }
    return fileSystem.isQuick(for: crowd.count) && fileSystem.sync()
  }
}

extension NewRequest {
  /// Something in `new/` that is no request, or is not called like one.
  fileprivate init(refused entry: Entry, named name: String, droppedAs: String, inbox: InboxID) {
    let refusal = entry.kind == .directory ? Refusal.badName : .notADirectory(entry.kind.noun)
    self.init(
      droppedAs: droppedAs, inode: entry.inode, born: entry.born, inbox: inbox,
      contents: .failure(DeliveryError(.malformedRequest, "\(name): \(refusal)")))
  }
}

extension NewRequest.Contents {
  /// - Parameter defaultInbox: that of a request which names none.
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

extension FileError {
  /// The machine has run out of something for now; the request is not to blame.
  var isPassing: Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }

  /// Its owner does not let us; others are not concerned.
  var isForbidden: Bool { code == EACCES || code == EPERM }

  /// The disk, or who serves it, did not do what it was asked for; the request may be as it should.
  var isOfDisk: Bool { [EIO, ESTALE, EINTR, ETIMEDOUT, ENODATA, EUCLEAN].contains(code) }
}
