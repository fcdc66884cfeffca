import Digests
import DurableFiles
import Messages
import Photos
import Settings
import Spooling

/// Sends one finished file of a watched folder.
///
/// Order (docs/durability.md): the request is dropped durably under a key that is made of the file's path, inode, size and
/// times; the file leaves its name; it is moved or deleted; the folder is synced. After a crash the file is sent again under
/// the same key, and is a duplicate. In a folder whose files stay nothing is changed; `SentFiles` remembers the key.
struct HotFile {
  static let sentName = ".sent"
  static let failedName = ".failed"
  /// The end of the name under which a file waits for its deletion.
  private static let takenEnding = ".photospool-sent"

  /// The outcome for a file.
  enum Outcome: Equatable {
    case sent(request: String)
    /// It is not an image, or its folders name no conversation. It stays.
    case notForUs(sentence: String)
    /// It is incomplete, or changes, or somebody writes it.
    case unfinished
    case failed(sentence: String)
    /// It was sent, and cannot be taken away.
    case stays(request: String, sentence: String)
    case gone
  }

  let folder: WatchedFolder
  let spool: String
  let directory: Directory
  let file: FoundFile

  /// - Throws: `FileError` if `file` cannot be reached any more.
  init(_ file: FoundFile, in folder: WatchedFolder, spool: String) throws(FileError) {
    var directory = try Directory(path: folder.folder)
    for name in file.folders { directory = try directory.directory(name) }
    (self.folder, self.spool, self.directory, self.file) = (folder, spool, directory, file)
  }

  /// Whether a name is that of a file that was sent before a crash.
  static func wasTaken(_ name: String) -> Bool { name.hasPrefix(".") && name.hasSuffix(takenEnding) }

  private var taken: String { ".\(file.name)\(Self.takenEnding)" }

  /// - Parameter gaveUp: whether an incomplete file has been left alone for so long that nobody will complete it.
  /// - Throws: `FileError` or `SpoolError` if it has to be sent later, as from a folder whose files cannot be taken away.
  func send(gaveUp: Bool) throws -> Outcome {
    if Self.wasTaken(file.name) { return try bringBack() }
    let opened: File
    do { opened = try directory.file(file.name) } catch {
      if error.isMissing { return .gone }
      // A change of its permissions is a change, after which it is judged again.
      if error.isForbidden { return .notForUs(sentence: "photospool may not read it; let its owner permit that") }
      throw error
    }
    let entry = try opened.entry()
    guard isSame(entry) else { return .unfinished }
    if entry.size > 0 {
      let begin = try opened.bytes(from: 0, count: 280)
      guard let format = PhotoFormat(of: begin), format.isPhoto else {
        return .notForUs(sentence: "it is not a photo")
      }
      guard let conversation = folder.conversation(in: file.folders) else {
        return .notForUs(sentence: "its folders give no name for the conversation \(folder.conversation)")
      }
      if entry.size > RequestLimits.photoBytes {
        return try reject("it has \(entry.size) bytes; the limit is \(RequestLimits.photoBytes); make it smaller")
      }
      if opened.hasWriter() != true, try WholeImage.isWhole(opened, format, size: entry.size, isOld: gaveUp) {
        return try send(opened, to: conversation)
      }
    }
    return gaveUp ? try reject("it ends too early, and nobody completed it; copy it again") : .unfinished
  }

  private func isSame(_ entry: Entry) -> Bool {
    entry.kind == .file && entry.inode == file.entry.inode && entry.size == file.entry.size
      && entry.modified == file.entry.modified
  }

  private func send(_ opened: File, to conversation: ConversationID) throws -> Outcome {
    guard let bytes = try opened.contents(limit: RequestLimits.photoBytes), isSame(try opened.entry()) else {
      return .unfinished
    }
    if folder.after != .keep, !directory.mayTake(".") { throw FileError("take files out of", directory.path) }
    let submission = Submission(
      to: conversation, from: folder.inbox, key: file.key(in: folder), text: text,
      photos: [try File(inMemory: bytes).called(file.name)])
    return try takeAway(submission.drop(into: spool).text)
  }

  /// Takes a file away that was sent as `request`.
  func takeAway(_ request: String) -> Outcome {
    guard folder.after != .keep else { return .sent(request: request) }
    do {
      try leave()
      return .sent(request: request)
    } catch {
      return .stays(request: request, sentence: "\(error)")
    }
  }

  private var text: String? {
    folder.text?.filled(
      name: escaped(file.name), folder: escaped(file.folders.joined(separator: "/")),
      time: Timestamp(milliseconds: file.entry.modified / 1_000_000).local("%Y-%m-%d %H:%M:%S"))
  }

  /// Takes the file away. First it gets a name of ours: another one may have taken its own meanwhile, and stays.
  private func leave() throws {
    if try !directory.move(file.name, to: directory, as: taken) {
      // An earlier crash left one of the same name.
      try move(taken, into: Self.sentName, as: file.name)
      _ = try directory.move(file.name, to: directory, as: taken)
    }
    guard let entry = try directory.entry(taken) else { return }
    guard isSame(entry) else {
      _ = try directory.move(taken, to: directory, as: file.name)
      return
    }
    switch folder.after {
    case .delete: try directory.remove(taken)
    case .move: try move(taken, into: Self.sentName, as: file.name)
    case .keep: break
    }
    try directory.sync()
  }

  /// Gives a file that a crash left under our name its own again, so that it is sent under the same key.
  private func bringBack() throws -> Outcome {
    let name = String(file.name.dropFirst().dropLast(Self.takenEnding.count))
    // Under another name it would be another photo.
    if try !directory.move(file.name, to: directory, as: name) {
      try move(file.name, into: Self.sentName, as: name)
    }
    try directory.sync()
    return .unfinished
  }

  private func reject(_ sentence: String) throws -> Outcome {
    if folder.after == .keep { return .notForUs(sentence: sentence) }
    let name = try move(file.name, into: Self.failedName, as: file.name)
    try directory.directory(Self.failedName).write(Array("\(sentence)\n".utf8), as: "\(name).error", mode: 0o644)
    try directory.sync()
    return .failed(sentence: sentence)
  }

  /// Moves a file into a folder beside it. Returns the name that it got.
  @discardableResult
  private func move(_ name: String, into place: String, as wanted: String) throws -> String {
    let goal = try directory.directory(creating: place, mode: 0o755)
    for number in 1... {
      let free = number == 1 ? wanted : "\(number).\(wanted)"
      if try directory.move(name, to: goal, as: free) {
        try goal.sync()
        return free
      }
    }
    return name
  }
}

extension FoundFile {
  /// The same for the same file, also after a crash; another one for a file that was written anew under its name.
  ///
  /// A folder whose files stay may be a card or a network mount, where an inode is another one after each mount.
  func key(in folder: WatchedFolder) -> IdempotencyKey? {
    let node = folder.after == .keep ? "" : "\(entry.inode) \(entry.born) "
    let facts = "\(folder.folder)\n\(path)\n\(node)\(entry.size) \(entry.modified)"
    return IdempotencyKey("watch.\(SHA256Digest(of: Array(facts.utf8)).hex.prefix(40))")
  }
}
