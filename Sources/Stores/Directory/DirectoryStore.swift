import Blocking
import DurableFiles
import Glibc
import Messages
import Signalling

/// Stores objects as files of one directory. Order of writes: the object under a temporary name, synced; the rename,
/// which replaces nothing; the directory's sync. So a name means a complete object, also after a power cut. After a
/// crash, `removeLeftovers` removes the temporary file.
package struct DirectoryStore: Store {
  package let name: String
  /// The directory's absolute path without symbolic links.
  package let path: String
  private let directory: Directory
  private let baseURL: String
  private let pool: BlockingPool

  /// Bytes between two checks for cancellation.
  private static let piece = 1 << 18
  /// The progress after everything is written, before the sync.
  private static let written = 0.95

  /// Opens the store in the directory at `path`, or makes it, for its owner only.
  ///
  /// - Parameter baseURL: the receivers' URL before `/NAME`; nil means the directory's `file://` URL.
  package init(name: String = "directory", directory path: String, baseURL: String?, pool: BlockingPool)
    throws(FileError)
  {
    self.name = name
    try Self.make(path)
    directory = try Directory(path: path)
    self.path = Self.resolved(path)
    self.baseURL =
      baseURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
      ?? "file://\(self.path.percentEncoded(keeping: "/"))"
    self.pool = pool
  }

  /// Throws if two of `stores` share a directory, where each could delete unsealed objects of the other.
  package static func expectOwnDirectories(of stores: [any Store]) throws(DeliveryError) {
    for (path, stores) in Dictionary(grouping: stores.compactMap { $0 as? DirectoryStore }, by: \.path)
    where stores.count > 1 {
      let names = stores.map(\.name).joined(separator: " and ")
      throw DeliveryError(.configError, "\(names) both keep objects in \(path); give each a directory of its own")
    }
  }

  private static func make(_ path: String) throws(FileError) {
    guard mkdir(path, 0o700) == 0 else {
      if errno == EEXIST { return }
      throw FileError("make directory", path)
    }
    do { try Directory(path: path + "/..").sync() } catch {
      // Otherwise the next start would assume that it is durable.
      rmdir(path)
      throw error
    }
  }

  package func removeLeftovers() throws {
    var leftovers = [String]()
    try directory.forEachName { bytes in
      if TemporaryName.isOurs(bytes) { leftovers.append(String(decoding: bytes, as: UTF8.self)) }
      return true
    }
    for name in leftovers { try directory.remove(name) }
  }

  /// Stores an object. A cancelled task leaves nothing.
  ///
  /// - Throws: `.localStorageFull`, `.localStorageError` or `.cancelled`. A failed sync is not repeated; the temporary
  ///   file is removed, so that the next attempt writes it again.
  package func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String {
    let cancelled = OneWayFlag()
    try await onPool(cancelled) { [directory] in
      progress(0)
      if let entry = try directory.entry(object.text) {
        guard entry.kind == .file else { throw FileError("store", directory.path(of: object.text), code: EEXIST) }
      } else {
        try Self.write(object, bytes, to: directory, cancelled: cancelled, progress: progress)
      }
      // Also for an existing object: its writer may have died before this.
      try directory.sync()
      progress(1)
    }
    return "\(baseURL)/\(object)"
  }

  private static func write(
    _ object: ObjectName, _ bytes: [UInt8], to directory: Directory, cancelled: OneWayFlag, progress: (Double) -> Void
  ) throws {
    let temporary = TemporaryName.make()
    let file = try directory.file(creating: temporary)
    do {
      for start in stride(from: 0, to: bytes.count, by: piece) {
        if cancelled.isSet { throw CancellationError() }
        let end = min(start + piece, bytes.count)
        try file.write(Array(bytes[start..<end]))
        progress(Double(end) / Double(bytes.count) * written)
      }
      if cancelled.isSet { throw CancellationError() }
      try file.sync()
      // Another upload of the same bytes was first.
      if try !directory.move(temporary, to: directory, as: object.text) { try directory.remove(temporary) }
    } catch {
      try? directory.remove(temporary)
      throw error
    }
  }

  package func check() async throws(DeliveryError) -> String {
    guard access(directory.path, W_OK) == 0 else {
      throw DeliveryError(.configError, "\(directory.path) cannot be written; give it to the user of the daemon")
    }
    return "keeps objects in \(directory.path)"
  }

  package func delete(_ object: ObjectName) async throws(DeliveryError) {
    try await onPool(OneWayFlag()) { [directory] in
      try directory.remove(object.text)
      try directory.sync()
    }
  }

  private func onPool(
    _ cancelled: OneWayFlag, _ work: @escaping @Sendable () throws -> Void
  ) async throws(DeliveryError) {
    do {
      try await withTaskCancellationHandler {
        try await pool.run(work)
      } onCancel: {
        cancelled.set()
      }
    } catch let error as FileError {
      throw DeliveryError(error.isOutOfSpace ? .localStorageFull : .localStorageError, error.description)
    } catch is CancellationError {
      throw DeliveryError(.cancelled, "the upload was cancelled")
    } catch {
      throw DeliveryError(.localStorageError, "cannot use \(directory.path): \(error)")
    }
  }

  private static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
