import Digests
import DurableFiles
import Glibc
import Messages
import Spooling

/// The files of one watched folder that were sent and stay in it, by the keys of their requests.
///
/// They are lines of a file in `watched/` of the state directory. A line is appended and synced once the request is on the
/// disk. After a crash in between the file is sent again under the same key, and is a duplicate. A part of a line, which a
/// crash left, is no key.
struct SentFiles {
  private let place: Directory
  private let name: String
  /// The first line, for people.
  private let title: String
  private var keys: Set<String>
  private var list: File?
  /// A write failed: keys are not on the disk, or only a part of one is.
  private var isBehind = false

  /// Lines beyond which those of files that are gone are removed.
  private static let most = 200_000
  private static let mostBytes = 1 << 30

  /// Whether the folder has not been watched before.
  var isNew: Bool { list == nil }

  /// Whether the lines of files that are gone should be removed.
  var isLong: Bool { keys.count > Self.most }

  /// - Throws: `FileError` if the list cannot be read.
  init(of folder: String, in state: Directory) throws(FileError) {
    place = try state.directory(creating: "watched")
    name = SHA256Digest(of: Array(folder.utf8)).hex.prefix(32) + ".sent"
    title = "# \(escaped(folder))"
    keys = []
    guard try place.entry(name) != nil else {
      // A list that a power cut takes away would make the folder a new one, whose files may be skipped.
      try state.sync()
      return
    }
    // Without its lines, all files of the folder would be sent again.
    guard let bytes = try place.file(name).contents(limit: Self.mostBytes) else {
      throw FileError("read", place.path(of: name), code: EFBIG)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    keys = Set(lines.dropLast().filter { !$0.hasPrefix("#") }.map(String.init))
    if lines.last == "" {
      list = try place.file(appendingTo: name)
    } else {
      try write()
    }
  }

  func contains(_ key: IdempotencyKey) -> Bool { keys.contains(key.text) }

  /// Remembers a file. It counts as sent in this process even if that fails.
  mutating func insert(_ key: IdempotencyKey) throws(FileError) {
    guard keys.insert(key.text).inserted else { return }
    guard let list, !isBehind else { return try write() }
    isBehind = true
    try list.write(Array("\(key.text)\n".utf8))
    try list.sync()
    isBehind = false
  }

  /// Writes the list anew if a write has failed.
  mutating func catchUp() throws(FileError) {
    if isBehind { try write() }
  }

  /// Begins the list of a new folder.
  ///
  /// - Parameter found: the files that count as sent.
  mutating func begin(with found: [IdempotencyKey]) throws(FileError) {
    keys = Set(found.map(\.text))
    try write()
  }

  /// Forgets files that are gone. A medium that is out would empty a list, so only a long one should be shortened.
  mutating func shorten(to found: [IdempotencyKey]) throws(FileError) {
    keys.formIntersection(found.map(\.text))
    try write()
  }

  private mutating func write() throws(FileError) {
    isBehind = true
    let text = ([title] + keys.sorted()).map { "\($0)\n" }.joined()
    try place.write(Array(text.utf8), as: name)
    try place.sync()
    list = try place.file(appendingTo: name)
    isBehind = false
  }
}
