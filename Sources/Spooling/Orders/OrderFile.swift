import DurableFiles
import Glibc
import Messages

/// A file of `cancel/` or `purge/`, with one name a line.
package struct OrderFile: Sendable {
  let name: String
  package let lines: [String]
  private let entry: Entry

  private static let longest = 1 << 20

  /// The complete files of `directory`, and a sentence for each unreadable one, which stays. Files that are still being
  /// written are skipped.
  package static func all(in directory: Directory) throws -> (files: [OrderFile], unreadable: [String]) {
    var files = [OrderFile]()
    var unreadable = [String]()
    for name in try directory.names() where !name.hasPrefix(".") {
      do {
        if let file = try read(name, in: directory) { files.append(file) }
      } catch let error as FileError {
        if error.isMissing { continue }
        guard [EACCES, EPERM, EFBIG].contains(error.code) else { throw error }
        unreadable.append("\(escaped(error.description)); correct or remove that file")
      }
    }
    return (files, unreadable)
  }

  /// nil if it is not a file or is still being written.
  private static func read(_ name: String, in directory: Directory) throws -> OrderFile? {
    guard let entry = try directory.entry(name), entry.kind == .file else { return nil }
    let file = try directory.file(name)
    if file.hasWriter() == true { return nil }
    guard let bytes = try file.contents(limit: longest) else {
      throw FileError("read as an order of at most 1 MiB", file.path, code: EFBIG)
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    return OrderFile(name: name, lines: lines, entry: entry)
  }

  /// Removes the file after its execution, unless another one has replaced it.
  package func remove(from directory: Directory, of spool: Spool) throws {
    func isSame(_ found: Entry) -> Bool { found.inode == entry.inode && found.modified == entry.modified }
    guard let found = try directory.entry(name), isSame(found) else { return }
    try Trash(spool).take(name, from: directory, where: isSame)?.delete()
  }
}
