import Blocking
import Digests
import DurableFiles
import Glibc
import Messages
import Seals

/// Publishes into files: one JSON line per message, appended to `published/CONVERSATION.jsonl`.
///
/// A message is published when its line, with its newline, is in the file. `publish` syncs the line, and the directory
/// if the file may be new. A crash can leave a partial line, which is cut off first, and a complete line that the
/// ledger does not know, which is found by its id. Both are at the end, because messages of a conversation come one at
/// a time. Profile photos are in `profile~INBOX.jsonl`, whose last line is in force.
///
/// Conversations are published in parallel on the pool's threads. No file stays open in between.
package struct LocalNetwork: Network {
  package let name: String
  package let takesBatches = true
  private let directory: Directory
  private let pool: BlockingPool
  private let clock: @Sendable () -> Timestamp
  private let turns = KeyedMutex()
  private let ends: LastPublished

  /// Publishes into the existing directory at `path`.
  ///
  /// - Parameters:
  ///   - clock: the time for `publishedAt`.
  ///   - knownEnds: the most files whose last message is remembered.
  package init(
    name: String = "local", directory path: String, pool: BlockingPool,
    clock: @escaping @Sendable () -> Timestamp = { .now() }, knownEnds: Int = 10_000
  ) throws(FileError) {
    self.name = name
    directory = try Directory(path: path)
    self.pool = pool
    self.clock = clock
    ends = LastPublished(limit: knownEnds)
  }

  package func admit(_ address: Address, sealedWith seal: SealKind) {}
  package func reserve(_ message: OutgoingMessage) -> String? { nil }
  package func stop() {}

  /// Returns the existing line of a message without writing it again.
  ///
  /// - Throws: `.localStorageFull` or `.localStorageError`. A line that could not be written or synced is removed if
  ///   possible, so that the next attempt writes it again: a second sync of the same bytes could falsely succeed.
  package func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    try await inTurn(message.address) { [directory, ends, clock] name in
      let known = ends.take(name)
      let isNew = try directory.entry(name) == nil
      let file = try directory.file(appendingTo: name)
      do {
        var line = LocalLine(outgoing: message, publishedAt: clock())
        if known == nil || known == message.message,
          let standing = try JSONLinesTail.mended(of: file).line(of: message.message)
        {
          // It may have been written but not synced before a crash.
          try file.sync()
          line = standing
        } else {
          try Self.append(line, to: file)
        }
        // The process that made the file may have died before it synced the directory.
        if known == nil || isNew { try directory.sync() }
        ends.remember(message.message, of: name)
        return line.publication
      } catch {
        if isNew { try? directory.remove(name) }
        throw error
      }
    }
  }

  package func check() async throws(DeliveryError) -> String {
    guard access(directory.path, W_OK) == 0 else {
      throw DeliveryError(.configError, "\(directory.path) cannot be written; give it to the user of the daemon")
    }
    return "publishes into files of \(directory.path)"
  }

  package func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting {
    try await inTurn(message.address) { [directory, ends] name in
      _ = ends.take(name)
      guard try directory.entry(name) != nil else { return .absent }
      let file = try directory.file(appendingTo: name)
      guard let line = try JSONLinesTail.mended(of: file).line(of: message.message) else { return .absent }
      try file.sync()
      try directory.sync()
      return .published(line.publication)
    }
  }

  private static func append(_ line: LocalLine, to file: File) throws(FileError) {
    let size = try file.entry().size
    do {
      try file.write(line.encoded)
      try file.sync()
    } catch {
      try? file.truncate(to: size)
      throw error
    }
  }

  /// Runs `work` on the pool with the conversation's file name, exclusively for the conversation.
  private func inTurn<Answer: Sendable>(
    _ address: Address, _ work: @escaping @Sendable (String) throws -> Answer
  ) async throws(DeliveryError) -> Answer {
    let name = address.fileName + ".jsonl"
    do {
      return try await turns.withLock(name) { try await pool.run { try work(name) } }
    } catch let error as FileError {
      throw DeliveryError(error.isOutOfSpace ? .localStorageFull : .localStorageError, error.description)
    } catch {
      throw DeliveryError(.localStorageError, "cannot use \(directory.path(of: name)): \(error)")
    }
  }
}
