import Blocking
import Digests
import DurableFiles
import Glibc
import Ledgers
import Messages
import Photos
import Spooling

/// Reads the files of accepted requests and drafts, and only the bytes that were accepted.
struct RequestFiles: Sendable {
  let spool: Spool
  let pool: BlockingPool
  /// The files of requests that other hosts accepted; nil for the spool's own.
  var owned: OwnedFiles?

  func photo(of message: QueuedMessage) async throws -> PhotoBytes {
    try await pool.run { [spool] in
      try spool.read(message) { file in
        var hasher = SHA256Hasher()
        var isTooLarge = false
        let photo = try PhotoBytes { take in
          let count = try file.read(limit: RequestLimits.photoBytes) { piece in
            hasher.update(piece)
            take(piece)
          }
          isTooLarge = count > RequestLimits.photoBytes
        }
        let digest = hasher.finish()
        return isTooLarge || digest.hex != message.digest ? nil : photo
      }
    }
  }

  /// The texts of messages without their trailing newline, up to the first unreadable one.
  ///
  /// - Throws: if the first one is unreadable.
  func texts(of messages: [QueuedMessage]) async throws -> [String] {
    if let owned { return try await owned.texts(of: messages) }
    return try await pool.run { [spool] in
      var texts: [String] = []
      for message in messages {
        do { texts.append(try spool.text(of: message)) } catch  where !texts.isEmpty { break }
      }
      return texts
    }
  }

  /// Removes former profile photos from the cache: files, then rows.
  func eraseSupersededProfiles(_ ledger: Ledger) async throws {
    for photo in try await ledger.supersededProfilePhotos() {
      try await pool.run { [spool] in try PhotoCache(spool).discard(photo) }
      try await ledger.forgetSupersededProfilePhoto(photo)
    }
  }
}

extension Spool {
  /// The kernel's errors for a link, a directory, a socket and so on.
  private static let saysNoFile = [ELOOP, EXDEV, ENOTDIR, EISDIR, ENXIO]

  fileprivate func text(of message: QueuedMessage) throws -> String {
    let bytes = try read(message) { file in
      let bytes = try file.contents(limit: RequestLimits.textFileBytes)
      return bytes.flatMap { SHA256Digest(of: $0).hex == message.digest ? $0 : nil }
    }
    return textWithoutNewline(bytes)
  }

  /// Reads a message's file; `contents` returns nil if it is not the accepted one.
  fileprivate func read<Contents>(_ message: QueuedMessage, _ contents: (File) throws -> Contents?) throws -> Contents {
    if !message.isDraft, let file = try? cur.file(at: "\(message.request)/\(message.file)"),
      let contents = try? contents(file)
    {
      return contents
    }
    // It was not moved yet, is a draft's, or something is wrong that must be reported.
    let changed = message.kind == .text ? Cause.textChanged : .photoChanged
    let forbidden = DeliveryError(
      changed, "photospool may not read the request any more; drop it again, and leave its permissions as they are")
    let place: Directory?
    do { place = try directory(of: message) } catch let error as FileError where error.isForbidden { throw forbidden }
    guard let place else {
      throw DeliveryError(changed, "the request's directory is gone from cur/; drop the request again")
    }
    do {
      guard let contents = try contents(place.file(message.file)) else {
        throw DeliveryError(changed, "the file was changed after Send; drop the request again")
      }
      return contents
    } catch let error as FileError where error.isMissing {
      throw DeliveryError(changed, "the file was removed after Send; drop the request again")
    } catch let error as FileError where Self.saysNoFile.contains(error.code) {
      throw DeliveryError(changed, "the file was replaced after Send by something else; drop the request again")
    } catch let error as FileError where error.isForbidden {
      throw forbidden
    } catch let error as FileError {
      throw DeliveryError(.localStorageError, error.description)
    }
  }

  /// Whether a later directory of the spool has that name.
  func has(_ name: String) -> Bool {
    [cur, sent, failed].contains { directory in (try? directory.entry(name)) ?? nil != nil }
  }

  /// The directory of an accepted request. If a crash came between commit and move, the move is made here.
  func directory(of message: QueuedMessage) throws -> Directory? {
    let identity = RequestIdentity(inode: message.inode, born: message.born)
    if message.isDraft { return try draftDirectory(identity, droppedAs: message.droppedAs, as: message.request) }
    return try takeOver(identity, droppedAs: message.droppedAs, as: message.request)
  }

  /// The directory of a draft, searched in the order of moves because it may be sent right now. Nothing is moved.
  private func draftDirectory(_ identity: RequestIdentity, droppedAs: String, as name: String) throws -> Directory? {
    for (parent, name) in [(draft, droppedAs), (new, droppedAs), (cur, name)] {
      guard let entry = try parent.entry(name), RequestIdentity(entry) == identity else { continue }
      do { return try parent.directory(name) } catch { if !error.isMissing { throw error } }
    }
    return nil
  }

  /// Moves an accepted request from `new/` to `cur/`, unless it is there. Returns its directory; nil if it is in
  /// neither place.
  func takeOver(_ identity: RequestIdentity, droppedAs: String, as name: String) throws -> Directory? {
    do { return try cur.directory(name) } catch { if !error.isMissing && error.code != ENOTDIR { throw error } }
    return try bringIn(identity, droppedAs: droppedAs, as: name) ? cur.directory(name) : nil
  }

  /// As `takeOver`. Returns whether it is in `cur/`, perhaps moved by another thread.
  func bringIn(_ identity: RequestIdentity, droppedAs: String, as name: String) throws -> Bool {
    // A request from `failed/` has its name there.
    let dropped = try isNew(droppedAs, identity) ? droppedAs : isNew(name, identity) ? name : nil
    guard let dropped else { return try cur.entry(name)?.kind == .directory }
    do {
      _ = try new.move(dropped, to: cur, as: name)
    } catch let error where error.isMissing {
      // Another thread moved it right now.
    }
    return true
  }

  private func isNew(_ name: String, _ identity: RequestIdentity) throws -> Bool {
    guard RequestName(name) != nil, let entry = try new.entry(name) else { return false }
    return RequestIdentity(entry) == identity
  }
}
