import Blocking
import Digests
import DurableFiles
import Messages
import Synchronization

/// Publishes into files: one JSON line per message, appended to `published/CONVERSATION.jsonl`.
///
/// A message counts as published when its line, with its newline, is in the file. The line is synced before `publish`
/// returns. A crash can leave a line without its newline, which was never published and is cut off before the next one
/// is written, and a whole line that nobody was told of, which is found by its id. Both can only stand at the end,
/// since a conversation's messages come one at a time.
public struct LocalNetwork: Network {
  public let name = "local"
  private let directory: Directory
  private let pool: BlockingPool
  private let touched = TouchedFiles()

  /// The most that a line can have: a text of the largest size, every byte escaped, and the rest.
  private static let longestLine = 1 << 20

  /// Publishes into the directory at `path`, which has to be there.
  public init(directory path: String, pool: BlockingPool) throws(FileError) {
    directory = try Directory(path: path)
    self.pool = pool
  }

  public func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    try await onPool { [directory, touched] in
      let name = Self.fileName(message.conversation)
      do {
        let isNew = try directory.entry(name) == nil
        let file = try directory.file(appendingTo: name)
        if touched.isFirstTouch(name) {
          try Self.cutTornLine(file)
          if let line = try Self.lastLine(file), line.message == message.message.text {
            // It may have been written and never synced before the crash.
            try file.sync()
            return line.publication
          }
        }
        let line = LocalLine(message, publishedAt: .now())
        try file.write(line.encoded())
        try file.sync()
        if isNew { try directory.sync() }
        return line.publication
      } catch {
        // What of the line reached the file is not known; the next attempt looks.
        touched.forget(name)
        throw error
      }
    }
  }

  public func find(_ message: MessageID, in conversation: ConversationID) async throws(DeliveryError) -> Sighting {
    try await onPool { [directory] in
      let name = Self.fileName(conversation)
      guard try directory.entry(name) != nil else { return .absent }
      let file = try directory.file(appendingTo: name)
      try Self.cutTornLine(file)
      guard let line = try Self.lastLine(file), line.message == message.text else { return .absent }
      try file.sync()
      return .published(line.publication)
    }
  }

  private static func fileName(_ conversation: ConversationID) -> String { conversation.fileName + ".jsonl" }

  /// Removes what stands behind the last newline.
  private static func cutTornLine(_ file: File) throws(FileError) {
    let size = try file.entry().size
    let tail = try tail(of: file, size: size)
    guard let last = tail.last, last != UInt8(ascii: "\n") else { return }
    let kept = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    try file.truncate(to: size - tail.count + kept)
    try file.sync()
  }

  private static func lastLine(_ file: File) throws(FileError) -> LocalLine? {
    let tail = try tail(of: file, size: file.entry().size).dropLast()
    let start = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return LocalLine(tail[start...])
  }

  private static func tail(of file: File, size: Int) throws(FileError) -> [UInt8] {
    let start = max(0, size - longestLine)
    return try file.bytes(from: start, count: size - start)
  }

  private func onPool<Answer: Sendable>(
    _ work: @escaping @Sendable () throws -> Answer
  ) async throws(DeliveryError) -> Answer {
    do { return try await pool.run(work) } catch let error as FileError {
      throw DeliveryError(error.isOutOfSpace ? .localStorageFull : .localStorageError, error.description)
    } catch {
      throw DeliveryError(.rejected, "the message cannot be written as JSON: \(error)")
    }
  }
}

/// The files whose end this process knows, because it wrote it. A bounded number; the others are looked at again.
private final class TouchedFiles: Sendable {
  private static let limit = 10_000
  private let names = Mutex<Set<String>>([])

  /// Whether the file's end has to be looked at; from now on it is known.
  func isFirstTouch(_ name: String) -> Bool {
    names.withLock { names in
      if names.count >= Self.limit { names.removeAll() }
      return names.insert(name).inserted
    }
  }

  func forget(_ name: String) { names.withLock { _ = $0.remove(name) } }
}
