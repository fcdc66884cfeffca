import Digests
import DurableFiles
import FoundationEssentials
import Messages

/// The local directories of `directory` stores, whose objects are named by the digest of their bytes.
package struct ObjectDirectories: Sendable {
  /// By the store's name.
  private let directories: [String: Directory]

  /// - Parameter paths: by the store's name; a missing directory counts as empty.
  package init(_ paths: [String: String]) throws(FileError) {
    var directories: [String: Directory] = [:]
    for (store, path) in paths {
      do { directories[store] = try Directory(path: path) } catch { if !error.isMissing { throw error } }
    }
    self.directories = directories
  }

  /// The number and size of all objects. Reads every entry.
  package func use() throws -> (objects: Int, bytes: Int) {
    var (objects, bytes) = (0, 0)
    for directory in directories.values {
      try directory.forEachName { name in
        if let entry = try directory.entry(bytes: name), entry.kind == .file {
          objects += 1
          bytes += entry.size
        }
        return true
      }
    }
    return (objects, bytes)
  }

  func directory(of store: String) -> Directory? { directories[store] }

  func stores(of object: SHA256Digest) throws -> [String] {
    try directories.filter { try $0.value.entry(object.hex) != nil }.keys.sorted()
  }
}

/// Reads the photos in a file of the `local` network, in batches.
struct PublishedPhotos {
  private let file: File
  private var position = 0
  /// The beginning of an incomplete line.
  private var rest: ArraySlice<UInt8> = []

  private static let piece = 1 << 20
  private static let member = Array("\"attachment\":".utf8)

  init(_ file: File) { self.file = file }

  struct Photo {
    let message: MessageID
    let object: SHA256Digest
    /// Its keys, and thus its bytes, are unique.
    let isSealed: Bool
  }

  private struct Line: Decodable {
    let message: String
    let attachment: Attachment?
  }

  /// The next photos; nil at the end. Skips invalid lines.
  mutating func next() throws -> [Photo]? {
    let bytes = try file.bytes(from: position, count: Self.piece)
    if bytes.isEmpty { return nil }
    position += bytes.count
    rest += bytes
    var photos: [Photo] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      if let photo = Self.photo(in: rest[..<end]) { photos.append(photo) }
      rest = rest[(end + 1)...]
    }
    rest = ArraySlice(Array(rest))
    return photos
  }

  private static func photo(in line: ArraySlice<UInt8>) -> Photo? {
    // Most lines may be texts.
    guard line.contains(member), let line = try? JSONDecoder().decode(Line.self, from: Data(line)),
      let attachment = line.attachment, let object = SHA256Digest(hex: attachment.contentDigest)
    else { return nil }
    return Photo(
      message: MessageID(unchecked: line.message), object: object,
      isSealed: attachment.secret != nil || attachment.file != nil)
  }
}
