import Digests
import DurableFiles
import Glibc
import Messages

/// A request as `photospool send` drops it: built in `tmp/`, synced, renamed into `new/` or, as a draft, into `draft/`.
///
/// Order of writes (docs/durability.md): the directory, each file and its sync, `.sum` last and its sync, the
/// directory's sync, the rename, the sync of `new/` (or `draft/`) and of `tmp/`.
///
/// A draft has no `.sum`, so that files can be added, and no number: its place in the order is that of the rename that
/// sends it.
package struct Submission: Sendable {
  package var addressee: Addressee
  package var inbox: InboxID?
  package var key: IdempotencyKey?
  package var text: String?
  /// The files to copy, in order.
  package var photos: [File]
  /// The request goes to `draft/`.
  package var isDraft: Bool
  /// The end of the request's name; nil makes one. At most 96 bytes of `A-Za-z0-9._-`.
  package var label: String?

  package init(
    to conversation: ConversationID, from inbox: InboxID?, key: IdempotencyKey?, text: String?, photos: [File],
    isDraft: Bool = false
  ) {
    addressee = .conversation(conversation)
    self.inbox = inbox
    self.key = key
    self.text = text
    self.photos = photos
    self.isDraft = isDraft
  }

  /// - Parameter photo: the new profile photo; nil removes the current one.
  package init(profilePhoto photo: File?, of inbox: InboxID?, key: IdempotencyKey?) {
    addressee = .profile
    self.inbox = inbox
    self.key = key
    text = nil
    photos = photo.map { [$0] } ?? []
    isDraft = false
  }

  /// Drops the request durably into the spool at `path`.
  ///
  /// - Returns: its name, once the request is on disk in `new/`, after all that were dropped before, or in `draft/`.
  /// - Throws: `SubmissionError` if the outcome is unknown; after any other error nothing is left.
  package func drop(into path: String) throws -> RequestName {
    let root = try Directory(path: path)
    let bytes = try photos.reduce(Reserve.bytes) { try $0 + $1.entry().size }
    guard try root.freeBytes() >= bytes else { throw SpoolError.full(path) }
    let tmp = try root.directory(ofSpool: "tmp")
    let goal = try root.directory(ofSpool: isDraft ? "draft" : "new")
    var name = Self.freshName(order: 0)
    // A daemon in the spool's group can take the request over; everything made inside has that group, too.
    while try !tmp.make(name, mode: 0o770) { name = Self.freshName(order: 0) }
    let final: RequestName
    do {
      let directory = try tmp.directory(name)
      // The lock tells the janitor that the request is still being written.
      _ = try directory.tryLock()
      // A service may be unable to set the set-group-id bit, which the directory mostly has from `tmp/`.
      if try directory.entry().permissions != 0o2770 { try directory.setPermissions(0o2770) }
      try write(into: directory)
      try directory.sync()
      final = try isDraft ? Self.renameDraft(name, from: tmp, to: goal) : rename(name, from: tmp, to: goal)
    } catch {
      try? tmp.removeTree(name)
      throw error
    }
    do {
      try goal.sync()
      try tmp.sync()
    } catch {
      throw SubmissionError(request: final, fault: "\(error)")
    }
    return final
  }

  private func write(into directory: Directory) throws {
    var sum = [String: SumFile.Line]()
    func put(_ bytes: [UInt8], as name: String) throws {
      let file = try directory.file(creating: name, mode: 0o660)
      try file.write(bytes)
      try file.sync()
      sum[name] = SumFile.Line(digest: SHA256Digest(of: bytes), bytes: bytes.count)
    }
    for (index, photo) in photos.enumerated() {
      let name = PhotoName.name(index, of: photo.name)
      let file = try directory.file(creating: name, mode: 0o660)
      var hasher = SHA256Hasher()
      let bytes = try photo.copy(to: file, limit: RequestLimits.photoBytes) { hasher.update($0) }
      guard bytes <= RequestLimits.photoBytes else {
        throw Refusal.tooLarge(file: photo.path, bytes: try photo.entry().size, limit: RequestLimits.photoBytes)
      }
      try file.sync()
      sum[name] = SumFile.Line(digest: hasher.finish(), bytes: bytes)
    }
    if let text { try put(Array(text.utf8), as: "text") }
    if let inbox { try put(Array("\(inbox)\n".utf8), as: "from") }
    if let key { try put(Array("\(key)\n".utf8), as: "id") }
    switch addressee {
    case .conversation(let conversation): try put(Array("\(conversation)\n".utf8), as: "to")
    case .profile: try put(Array("profile\n".utf8), as: "kind")
    }
    if isDraft { return }
    let summary = try directory.file(creating: ".sum", mode: 0o660)
    try summary.write(Array(SumFile(lines: sum).text.utf8))
    try summary.sync()
  }

  /// Takes a number and renames in one critical section, so that the order needs no clock.
  private func rename(_ name: String, from tmp: Directory, to new: Directory) throws -> RequestName {
    let lock = try Self.takeLock(in: tmp)
    defer { lock?.release() }
    while true {
      let order = try ArrivalNumber.next(after: lock?.note() ?? "") { try ArrivalNumber.highest(in: new) }
      let text = label.map { "\(ArrivalNumber.prefix(order))-\($0)" } ?? Self.freshName(order: order)
      guard let final = RequestName(text) else { throw Refusal.badName }
      try lock?.write(note: ArrivalNumber.note(order))
      if try tmp.move(name, to: new, as: final.text) { return final }
    }
  }

  /// Renames a draft into `new/` while nobody else takes a number, so that it comes after all earlier requests.
  static func renameInOrder(
    _ name: RequestName, from draft: Directory, to new: Directory, tmp: Directory
  ) throws {
    let lock = try takeLock(in: tmp)
    defer { lock?.release() }
    guard try draft.move(name.text, to: new, as: name.text) else { throw Refusal.badName }
  }

  /// nil if somebody holds it for long, or another user owns it alone, in a spool that its daemon did not make; then the
  /// clock decides.
  private static func takeLock(in tmp: Directory) throws -> FileLock? {
    let lock: FileLock
    do { lock = try FileLock(ArrivalNumber.lockName, in: tmp, mode: 0o660) } catch {
      if error.code == EACCES || error.code == EPERM { return nil }
      throw error
    }
    return try lock.tryAcquire(within: ArrivalNumber.lockPatience) ? lock : nil
  }

  private static func renameDraft(_ name: String, from tmp: Directory, to draft: Directory) throws -> RequestName {
    while true {
      // `d` instead of the `o` of numbered requests.
      guard let final = RequestName("d" + freshName(order: ArrivalNumber.clock).dropFirst()) else {
        throw Refusal.badName
      }
      if try tmp.move(name, to: draft, as: final.text) { return final }
    }
  }

  /// `ORDER-PID-RANDOM`: sorted by arrival, and unique.
  private static func freshName(order: UInt64) -> String {
    ArrivalNumber.prefix(order) + "-\(getpid())-" + String(UInt32.random(in: 0 ... .max), radix: 36)
  }
}

/// Why the result of a submission is unclear.
package struct SubmissionError: Error, CustomStringConvertible {
  let request: RequestName
  let fault: String

  package var description: String {
    "the request \(request) was dropped, but the disk did not confirm it: \(fault); look for it with `photospool show \(request)` before sending it again"
  }
}
