import Blocking
import Digests
import DurableFiles
import Glibc
import Messages

/// Keeps objects as files of one directory.
///
/// Order of writes: the object under a temporary name of its own, synced; the rename, which replaces nothing; the
/// directory's sync. So a name that is there stands for a whole object, also after a power cut. Killed in between, a
/// temporary file is left, which `removeLeftovers` removes.
package struct DirectoryStore: Store {
  package let name: String
  private let directory: Directory
  private let baseURL: String
  private let pool: BlockingPool

  /// Bytes that are written between two looks at whether the upload was cancelled.
  private static let piece = 1 << 18
  /// How far an upload has come when all is written and the disk has yet to confirm it.
  private static let written = 0.95

  /// Opens the store in the directory at `path`, made for its owner alone when it is missing.
  ///
  /// - Parameters:
  ///   - name: the store's word in the configuration, the log and the ledger.
  ///   - baseURL: what receivers find before `/NAME`; nil stands for the directory's `file://` URL.
  package init(name: String = "directory", directory path: String, baseURL: String?, pool: BlockingPool)
    throws(FileError)
  {
    self.name = name
    try Self.make(path)
    directory = try Directory(path: path)
    self.baseURL = baseURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? Self.fileURL(of: path)
    self.pool = pool
  }

  /// The directory.
  package var path: String { directory.path }

  private static func make(_ path: String) throws(FileError) {
    guard mkdir(path, 0o700) == 0 else {
      if errno == EEXIST { return }
      throw FileError("make directory", path)
    }
    do { try Directory(path: path + "/..").sync() } catch {
      // Else the next start would take it for one that is on the disk.
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

  /// A cancelled task stops between two pieces and leaves nothing.
  ///
  /// - Throws: `.localStorageFull`, `.localStorageError` or `.cancelled`. A failed sync is not tried again; the
  ///   temporary file is gone, so that the next attempt writes every byte anew.
  package func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String {
    let cancelled = CancelFlag()
    try await onPool(cancelled) { [directory] in
      progress(0)
      if let entry = try directory.entry(object.text) {
        guard entry.kind == .file else { throw FileError("store", directory.path(of: object.text), code: EEXIST) }
      } else {
        try Self.write(object, bytes, to: directory, cancelled: cancelled, progress: progress)
      }
      // Also when the object was there: whoever put it may have been killed before this.
      try directory.sync()
      progress(1)
    }
    return "\(baseURL)/\(object)"
  }

  private static func write(
    _ object: ObjectName, _ bytes: [UInt8], to directory: Directory, cancelled: CancelFlag, progress: (Double) -> Void
  ) throws {
    let temporary = TemporaryName.make()
    let file = try directory.file(creating: temporary)
    do {
      for start in stride(from: 0, to: bytes.count, by: piece) {
        try cancelled.check()
        let end = min(start + piece, bytes.count)
        try file.write(Array(bytes[start..<end]))
        progress(Double(end) / Double(bytes.count) * written)
      }
      try cancelled.check()
      try file.sync()
      // Somebody else was first with an object of that name: the same bytes.
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
    try await onPool(CancelFlag()) { [directory] in
      try directory.remove(object.text)
      try directory.sync()
    }
  }

  private func onPool(
    _ cancelled: CancelFlag, _ work: @escaping @Sendable () throws -> Void
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

  /// RFC 8089, with everything escaped that a URL's path may not hold.
  private static func fileURL(of path: String) -> String {
    let absolute: String
    if let resolved = realpath(path, nil) {
      absolute = String(cString: resolved)
      free(resolved)
    } else {
      absolute = path
    }
    let kept = Array("/-._~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
    let escaped = absolute.utf8.map { byte in
      kept.contains(byte) ? String(decoding: [byte], as: UTF8.self) : "%" + [byte].hex.uppercased()
    }
    return "file://" + escaped.joined()
  }
}
