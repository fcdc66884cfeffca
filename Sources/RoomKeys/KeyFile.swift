import Blocking
import CleanPages
import DurableFiles
import GRDB
import Messages
import Olm
import Synchronization

/// Everything that opens encrypted messages to one account: `keys.sqlite` in the network's state directory.
///
/// A change is on disk when its call returns (rollback journal, `synchronous=EXTRA`). Removed keys are overwritten in
/// the file, and its pages keep no copies of them (`CleanPages`). The journal has the former pages, so each change
/// removes it (a write-ahead log would keep them until it is emptied); after a crash the next opening does. What is left
/// of it on free blocks of the disk is the file system's.
///
/// The chains that encrypt are in memory only (`LiveSessions`), so that nothing in the file opens what was sent. One
/// process uses the file. A row that is damaged is passed over and hides none of the others. Put back from a backup,
/// the file loses some messages that other devices send afterwards, and reveals nothing.
package final class KeyFile: Sendable {
  package static let fileName = "keys.sqlite"

  private let database: DatabaseQueue
  private let path: String
  private let pool = BlockingPool(label: "room keys", threads: 1)
  private let live = Mutex(LiveSessions(of: ""))

  /// Opens or makes the file.
  ///
  /// - Throws: `.configError` for a damaged file and for one of a later version; `.diskFull` and the like are not told
  ///   apart.
  package init(in directory: Directory) throws(DeliveryError) {
    path = directory.path(of: Self.fileName)
    do {
      // SQLite would make it readable for others where the umask allows that.
      if try directory.entry(Self.fileName) == nil { _ = try directory.file(creating: Self.fileName) }
      var configuration = Configuration()
      // During a reload, a message in progress has the file open as well.
      configuration.busyMode = .timeout(10)
      configuration.prepareDatabase { database in
        try database.execute(
          sql: """
            PRAGMA secure_delete = ON; PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;
            PRAGMA temp_store = MEMORY
            """)
      }
      database = try DatabaseQueue(path: CleanPages.uri(of: path), configuration: configuration)
      guard try database.read({ $0.vfs }) == CleanPages.vfs else {
        throw DeliveryError(.configError, "\(path) is opened in a way in which removed keys would leave traces")
      }
      if try database.read(KeySchema.mayHaveRemains) { try database.vacuum() }
      try database.write(KeySchema.prepare)
      try directory.sync()
    } catch {
      throw Self.meaning(error, path)
    }
  }

  /// Makes one durable change, all of it or nothing.
  func change<Answer: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Answer
  ) async throws(DeliveryError) -> Answer {
    try await run { [database] in try database.write(body) }
  }

  /// Makes one durable change of sessions of our device `own`. Those in memory change once it is durable.
  func change<Answer: Sendable>(
    sessionsOf own: OwnDevice, _ body: @escaping @Sendable (Database, inout LiveSessions) throws -> Answer
  ) async throws(DeliveryError) -> Answer {
    try await run { [self] in
      var next = live.withLock { $0.own == own.id ? $0 : LiveSessions(of: own.id) }
      let answer = try database.write { try body($0, &next) }
      live.withLock { [next] in $0 = next }
      return answer
    }
  }

  /// How many sessions a device has opened since the start of the process.
  package func openings(by device: Curve25519PublicKey) -> Int { live.withLock { $0.openings(by: device) } }

  /// Reads without a change.
  func read<Answer: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Answer
  ) async throws(DeliveryError) -> Answer {
    try await run { [database] in try database.read(body) }
  }

  private func run<Answer: Sendable>(
    _ work: @escaping @Sendable () throws -> Answer
  ) async throws(DeliveryError) -> Answer {
    do { return try await pool.run(work) } catch { throw Self.meaning(error, path) }
  }

  private static func meaning(_ error: any Error, _ path: String) -> DeliveryError {
    if let error = error as? DeliveryError { return error }
    if let error = error as? DatabaseError, [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
      return DeliveryError(
        .configError,
        "\(path) is damaged; move it away and restart: messages that other devices encrypt from then on can be read")
    }
    return DeliveryError(.configError, "\(path) cannot be used: \(error); check the disk and the file's owner")
  }
}
