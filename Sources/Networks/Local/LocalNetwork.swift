import Blocking
import Digests
import DurableFiles
import Glibc
import Messages

/// Publishes into files: one JSON line per message, appended to `published/CONVERSATION.jsonl`.
///
/// A message counts as published when its line, with its newline, is in the file. The line is synced before `publish`
/// returns, and so is the directory when the file may be new. A crash can leave a torn line, which was never published
/// and is cut off before anything else is done, and a whole line that nobody was told of, which is found by its id.
/// Both can only stand at the end, since a conversation's messages come one at a time. What becomes of an inbox's profile
/// photo is in a file of its own, `profile~INBOX.jsonl`, whose last line is what is.
///
/// Conversations are published to in parallel, as far as the pool's threads go; no file stays open in between.
package struct LocalNetwork: Network {
  package let name: String
  package let takesBatches = true
  private let directory: Directory
  private let pool: BlockingPool
  private let clock: @Sendable () -> Timestamp
  private let turns = KeyedMutex()
  private let ends: LastPublished

  /// Publishes into the directory at `path`, which has to be there.
  ///
  /// - Parameters:
  ///   - name: the network's word in the configuration, the log and the ledger.
  ///   - clock: tells the moment that a line says it was published at.
  package init(
    name: String = "local", directory path: String, pool: BlockingPool,
    clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws(FileError) {
    try self.init(name: name, directory: path, pool: pool, clock: clock, knownEnds: 10_000)
  }

  init(
    name: String = "local", directory path: String, pool: BlockingPool, clock: @escaping @Sendable () -> Timestamp,
    knownEnds: Int
  ) throws(FileError) {
    self.name = name
    directory = try Directory(path: path)
    self.pool = pool
    self.clock = clock
    ends = LastPublished(limit: knownEnds)
  }

  /// A message whose line is there already is not written again: the answer is what that line says.
  ///
  /// - Throws: `.localStorageFull` or `.localStorageError`. A line that could not be written or synced is taken back, as
  ///   far as the disk still obeys, so that the next attempt writes every byte anew: a second sync over the same bytes
  ///   could be answered with a false success.
  package func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    try await inTurn(message.conversation) { [directory, ends, clock] name in
      let known = ends.take(name)
      let isNew = try directory.entry(name) == nil
      let file = try directory.file(appendingTo: name)
      do {
        var line = LocalLine(message, publishedAt: clock())
        if known == nil || known == message.message,
          let standing = try JSONLinesTail.mended(of: file).line(of: message.message)
        {
          // It may have been written and never synced before a crash.
          try file.sync()
          line = standing
        } else {
          try Self.append(line, to: file)
        }
        // Whoever made the file may have been killed before its name reached the disk.
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
    try await inTurn(message.conversation) { [directory, ends] name in
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

  /// Runs `work` with the conversation's file name on the pool, alone with that conversation.
  private func inTurn<Answer: Sendable>(
    _ conversation: ConversationID, _ work: @escaping @Sendable (String) throws -> Answer
  ) async throws(DeliveryError) -> Answer {
    let name = conversation.fileName + ".jsonl"
    await turns.begin(name)
    defer { turns.end(name) }
    do { return try await pool.run { try work(name) } } catch let error as FileError {
      throw DeliveryError(error.isOutOfSpace ? .localStorageFull : .localStorageError, error.description)
    } catch {
      throw DeliveryError(.localStorageError, "cannot use \(directory.path(of: name)): \(error)")
    }
  }
}
