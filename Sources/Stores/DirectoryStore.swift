import Blocking
import Digests
import DurableFiles
import Glibc
import Messages

/// Keeps objects as files of one directory.
///
/// Order of writes: the object under a temporary name, synced; the rename, which replaces nothing; the directory's sync.
/// Killed in between, a temporary file is left, which the next start removes.
public struct DirectoryStore: Store {
  public let name = "directory"
  private let directory: Directory
  private let baseURL: String
  private let pool: BlockingPool

  private static let temporaryPrefix = ".upload-"
  /// Bytes that are written between two looks at whether the upload was cancelled.
  private static let piece = 1 << 18

  /// Opens the store in the directory at `path`, made when it is missing.
  ///
  /// - Parameter baseURL: what receivers find before `/NAME`; nil stands for the directory's `file://` URL.
  public init(directory path: String, baseURL: String?, pool: BlockingPool) throws(FileError) {
    if mkdir(path, 0o700) != 0 && errno != EEXIST { throw FileError("make directory", path) }
    directory = try Directory(path: path)
    self.baseURL = baseURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? Self.fileURL(of: path)
    self.pool = pool
  }

  public func removeLeftovers() throws {
    for name in try directory.names() where name.hasPrefix(Self.temporaryPrefix) { try directory.remove(name) }
  }

  public func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String {
    let cancelled = CancelFlag()
    try await onPool(cancelled) { [directory] in
      progress(0)
      if try directory.entry(object.text) != nil { return progress(1) }
      let temporary = Self.temporaryPrefix + object.text
      try directory.remove(temporary)
      do {
        let file = try directory.file(creating: temporary)
        for start in stride(from: 0, to: bytes.count, by: Self.piece) {
          if cancelled.isSet { throw CancellationError() }
          let end = min(start + Self.piece, bytes.count)
          try file.write(Array(bytes[start..<end]))
          progress(Double(end) / Double(bytes.count) * 0.95)
        }
        try file.sync()
        // Somebody else's object of that name holds the same bytes.
        if try !directory.move(temporary, to: directory, as: object.text) { try directory.remove(temporary) }
      } catch {
        try? directory.remove(temporary)
        throw error
      }
      try directory.sync()
      progress(1)
    }
    return "\(baseURL)/\(object)"
  }

  public func delete(_ object: ObjectName) async throws(DeliveryError) {
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
    } catch {
      throw DeliveryError(.cancelled, "the upload was cancelled")
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
