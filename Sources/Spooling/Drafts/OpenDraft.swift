import DurableFiles
import Glibc
import Messages

/// A draft that a client builds file by file in `draft/`, as the web page does. The daemon uploads each photo at once.
///
/// Every change is a rename, so a reader finds a file whole or not at all. Nothing is synced before `send`; a power cut
/// may lose a draft. The client makes one change at a time.
package struct OpenDraft: Sendable {
  /// A photo of a draft.
  package struct Photo: Sendable, Equatable {
    /// Its name in the draft: the number of its place, and the user's name.
    package let file: String
    package let bytes: Int
  }

  package let name: RequestName
  private let spool: Spool
  private let directory: Directory

  private init(_ name: RequestName, in spool: Spool, directory: Directory) {
    self.name = name
    self.spool = spool
    self.directory = directory
  }

  /// Opens the draft `name`; nil if it is not in `draft/`, for example since it was sent.
  package init?(_ name: RequestName, in spool: Spool) throws(FileError) {
    do { directory = try spool.draft.directory(name.text) } catch {
      if error.isMissing { return nil }
      throw error
    }
    self.name = name
    self.spool = spool
  }

  /// The drafts whose names begin with `prefix`.
  package static func all(withPrefix prefix: String, in spool: Spool) throws -> [OpenDraft] {
    try spool.draft.names().filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
      try RequestName(name).flatMap { try OpenDraft($0, in: spool) }
    }
  }

  /// Begins a draft. It is in `draft/` once `fill` has put something into it, so the daemon never finds an empty one.
  ///
  /// - Parameters:
  ///   - name: a new name.
  ///   - inbox: nil for the configured one.
  package static func begin(
    _ name: RequestName, in spool: Spool, to conversation: ConversationID, from inbox: InboxID?,
    fill: (OpenDraft) throws -> Void
  ) throws -> OpenDraft {
    guard try spool.tmp.make(name.text, mode: 0o770) else { throw FileError("make directory", name.text, code: EEXIST) }
    do {
      let draft = OpenDraft(name, in: spool, directory: try spool.tmp.directory(name.text))
      try draft.put("\(conversation.text)\n", as: "to")
      if let inbox { try draft.put("\(inbox.text)\n", as: "from") }
      try fill(draft)
      guard try spool.tmp.move(name.text, to: spool.draft, as: name.text) else { throw Refusal.badName }
      return draft
    } catch {
      try? spool.tmp.removeTree(name.text)
      throw error
    }
  }

  // MARK: Looking

  /// Where it goes; nil if it cannot be read.
  package var conversation: ConversationID? { try? ConversationID(directory.field("to") ?? "") }

  /// The inbox that it names; nil for the configured one.
  package var inbox: InboxID? { (try? directory.field("from")).flatMap { try? InboxID($0) } }

  /// Its photos in their order.
  package func photos() throws -> [Photo] {
    try directory.names().filter { $0.hasPrefix("photo") }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      .compactMap { name in try directory.entry(name).map { Photo(file: name, bytes: $0.size) } }
  }

  package func text() throws -> String? {
    do {
      return try directory.file("text").contents(limit: RequestLimits.textFileBytes).map(textWithoutNewline)
    } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// When a file was last added to it or removed.
  package var modified: Int64 { (try? directory.entry().modified) ?? 0 }

  // MARK: Changing

  /// Moves a file of `tmp/` to its photos.
  ///
  /// - Parameters:
  ///   - file: its name in `tmp/`. It is closed.
  ///   - original: the user's name of the photo.
  ///   - place: its number, so that photos that arrive out of order need no other names: a new name starts an upload again.
  ///     nil, or one that another photo has, puts it behind the others. The same photo again, whose first answer was
  ///     lost, changes nothing.
  /// - Returns: its name in the draft.
  package func add(_ file: String, called original: String, at place: Int? = nil) throws -> String {
    let photos = try photos()
    if let place, (0..<99).contains(place) {
      let name = PhotoName.name(place, of: original)
      let there = photos.first { PhotoName.number($0.file) == place }
      if there?.file == name, try isSame(file, name) {
        try spool.tmp.remove(file)
        return name
      }
      if there == nil, photos.count < RequestLimits.photos {
        guard try spool.tmp.move(file, to: directory, as: name) else { throw Refusal.badName }
        return name
      }
    }
    if photos.count >= RequestLimits.photos { throw Refusal.tooManyPhotos(photos.count + 1) }
    if let last = photos.last, PhotoName.number(last.file) ?? 99 >= 99 { _ = try number(photos.map(\.file), from: 0) }
    let number = try self.photos().compactMap { PhotoName.number($0.file) }.max().map { $0 + 1 } ?? 0
    let name = PhotoName.name(number, of: original)
    guard try spool.tmp.move(file, to: directory, as: name) else { throw Refusal.badName }
    return name
  }

  /// Whether a file of `tmp/` has the bytes of a photo.
  private func isSame(_ file: String, _ photo: String) throws -> Bool {
    let limit = RequestLimits.photoBytes
    return try spool.tmp.file(file).contents(limit: limit) == directory.file(photo).contents(limit: limit)
  }

  /// Removes a photo, if it is there.
  package func remove(_ file: String) throws {
    guard try photos().contains(where: { $0.file == file }) else { return }
    try directory.remove(file)
  }

  /// Puts the photos into another order. Those that `files` does not name stay behind the others.
  ///
  /// - Returns: their new names.
  package func order(_ files: [String]) throws -> [Photo] {
    let old = try photos().map(\.file)
    var met = Set<String>()
    let first = files.filter { old.contains($0) && met.insert($0).inserted }
    var wanted = first + old.filter { !first.contains($0) }
    guard wanted != old else { return try photos() }
    var highest = old.compactMap(PhotoName.number).max() ?? 0
    if highest + wanted.count > 99 {
      let renamed = try number(old, from: 0)
      wanted = wanted.map { renamed[$0] ?? $0 }
      highest = old.count - 1
    }
    let place = zip(wanted, try photos().map(\.file)).prefix { $0 == $1 }.count
    _ = try number(Array(wanted[place...]), from: highest + 1)
    return try photos()
  }

  /// Gives photos consecutive numbers from `first` on, which are free or their own. Returns the new names.
  private func number(_ files: [String], from first: Int) throws -> [String: String] {
    var names: [String: String] = [:]
    for (index, file) in files.enumerated() {
      let name = PhotoName.name(first + index, of: PhotoName.original(file))
      if name != file, try !directory.move(file, to: directory, as: name) { throw Refusal.badName }
      names[file] = name
    }
    return names
  }

  /// Sets its text; nil removes it.
  package func setText(_ text: String?) throws {
    guard let text else { return try directory.remove("text") }
    if try self.text() == text { return }
    try put(text, as: "text")
  }

  /// Writes a small file by a rename from `tmp/`.
  private func put(_ text: String, as name: String) throws {
    let temporary = ".\(self.name)-\(name)"
    try spool.tmp.put(Array(text.utf8), as: temporary, mode: 0o660)
    try directory.remove(name)
    guard try spool.tmp.move(temporary, to: directory, as: name) else { throw Refusal.badName }
  }

  // MARK: The end

  /// Sends it, durably, after all requests that were dropped before. It keeps its name, and by it its uploads; a number
  /// in the name would start them again, so its place is that of the rename.
  ///
  /// Order of writes: `id` and the sync of every file and of the directory; under the lock of the order the rename; the
  /// syncs of `new/` and `draft/`.
  ///
  /// - Throws: `SubmissionError` if the outcome is unknown; after any other error it is still a draft.
  package func send(key: IdempotencyKey) throws {
    try put("\(key)\n", as: "id")
    for name in try directory.names() { try directory.file(name).sync() }
    try directory.sync()
    try Submission.renameInOrder(name, from: spool.draft, to: spool.new, tmp: spool.tmp)
    do {
      try spool.new.sync()
      try spool.draft.sync()
    } catch { throw SubmissionError(request: name, fault: "\(error)") }
  }

  /// Deletes it. It leaves `draft/` in one rename, so that no part of it is ever sent.
  ///
  /// - Parameter trash: a free name in `tmp/`.
  package func delete(by trash: String) throws {
    guard try spool.draft.entry(name.text) != nil, try spool.draft.move(name.text, to: spool.tmp, as: trash) else {
      return
    }
    try spool.tmp.removeTree(trash)
  }
}
