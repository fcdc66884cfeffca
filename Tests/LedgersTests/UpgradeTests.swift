import DurableFiles
import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct UpgradeTests {
  private let scratch: TemporaryDirectory
  private let state: Directory
  private let now = Timestamp(milliseconds: 1_800_000_000_000)

  init() throws {
    scratch = try TemporaryDirectory()
    state = try Directory(path: scratch.path)
  }

  /// Rows that every version could write: a waiting text, a sent photo, a draft, an upload.
  private static let rows = """
    INSERT INTO conversations (id, conversation, waiting, due) VALUES (1, 'family', 1, 3), (2, 'work', 0, 4);
    INSERT INTO requests (id, request, dropped_as, inode, born, conversation_id, inbox, state, bytes, accepted_at, filed)
      VALUES (1, 'a', 'a', 1, 1, 1, 'me', 'sent', 5, 1, 1), (2, 'b', 'b', 2, 1, 1, 'me', 'queued', 6, 2, 0),
        (9, 'c', 'c', 3, 1, 2, 'me', 'failed', 7, 3, 1);
    INSERT INTO messages (id, message, request_id, conversation_id, position, kind, file, bytes, digest, state, sent_at)
      VALUES (1, 'ma', 1, 1, 0, 'photo', 'photo', 5, 'd', 'sent', 8),
        (2, 'mb', 2, 1, 0, 'text', 'text', 6, 'e', 'pending', NULL);
    DELETE FROM requests WHERE id = 9;
    INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width, original_height,
        bytes, width, height, digest, path, thumbnail_bytes, url, created_at, uploaded_at)
      VALUES ('ma', 'me', 1, 'photo', 'jpeg', 90, 9, 9, 50, 5, 5, 'f', 'p', 7, 'https://x', 6, 8);
    INSERT INTO uploads (message, store, object, state, started_at) VALUES ('ma', 's', 'o', 'published', 6);
    INSERT INTO preferences VALUES (1, 'fetch', 'ask');
    """

  private func schema(of ledger: Ledger) async throws -> [String] {
    try await ledger.read { database in
      try Row.fetchAll(database, sql: "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
        .map(\.description)
    }
  }

  /// Their values by column, as far as the earlier ledger had these.
  private static func contents(of database: Database, like columns: [String: [String]]) throws -> [String: [String]] {
    var contents = [String: [String]]()
    for (table, columns) in columns {
      contents[table] = try Row.fetchAll(
        database, sql: "SELECT \(columns.joined(separator: ", ")) FROM \(table) ORDER BY 1"
      ).map(\.description)
    }
    return contents
  }

  @Test(
    "The ledger of an earlier program has the schema of a new one, and the rows that it had",
    arguments: EarlierProgram.allCases)
  func likeANewOne(_ program: EarlierProgram) async throws {
    let other = try TemporaryDirectory()
    let new = try Ledger(in: Directory(path: other.path))
    let path = state.path(of: Ledger.fileName)
    try program.makeLedger(at: path, holding: Self.rows)
    let queue = try DatabaseQueue(path: path)
    let (columns, before) = try await queue.read { database in
      var columns = [String: [String]]()
      for table in ["conversations", "requests", "messages", "photos", "uploads", "preferences"] {
        // Filled from other columns.
        let filled = ["known", "pinned", "fetchable", "recency", "viewed_at", "url_expires_at"]
        columns[table] = try database.columns(in: table).map(\.name).filter { !filled.contains($0) }
      }
      return (columns, try Self.contents(of: database, like: columns))
    }
    try queue.close()
    let ledger = try Ledger(in: state)
    #expect(try await schema(of: ledger) == schema(of: new))
    let after = try await ledger.read { try Self.contents(of: $0, like: columns) }
    #expect(after == before)
    #expect(try await ledger.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    #expect(try await ledger.read { try Row.fetchOne($0, sql: "PRAGMA foreign_key_check") == nil })
    // It is upgraded once.
    try ledger.close()
    try Ledger(in: state, isOwn: false).close()
  }

  @Test("The ledger of an earlier program goes on with what waits in it", arguments: EarlierProgram.allCases)
  func goesOn(_ program: EarlierProgram) async throws {
    try program.makeLedger(at: state.path(of: Ledger.fileName), holding: Self.rows)
    let ledger = try Ledger(in: state)
    _ = try await ledger.recover(at: now)
    let text = try #require(try await ledger.head(of: 1, limit: 9).first)
    #expect(text.message.text == "mb" && !text.isDraft && text.firstTriedAt == nil)
    _ = try await ledger.beginPublishing(text, at: now)
    _ = try await ledger.markSent(text, Published(at: now), at: now)
    let accepted = try await ledger.accept([NewRequest("d", inode: 4)], at: now)
    #expect(accepted.map(\.state) == [.queued])
    // Row numbers are never reused.
    #expect(try await ledger.read { try Int.fetchOne($0, sql: "SELECT max(id) FROM requests") } == 10)
    let counts = try await ledger.counts()
    #expect(counts.waiting[.pending] == 1 && counts.conversations == 1 && counts.lastSent == now)
    #expect(try await ledger.cacheUse().map(\.bytes) == (program == .first ? [57, 57] : [0]))
    #expect(try LedgerView(in: state).preferences(of: "family").fetch == .ask)
  }

  @Test("A ledger of the first program counts all that is in it, and knows to whom was sent")
  func first() async throws {
    try EarlierProgram.first.makeLedger(at: state.path(of: Ledger.fileName), holding: Self.rows)
    let ledger = try Ledger(in: state)
    let counts = try await ledger.counts()
    #expect(counts.accepted == 2 && counts.ended[.sent] == 1 && counts.sent[.photo] == 1)
    #expect(counts.lastSent == Timestamp(milliseconds: 8))
    #expect(counts.preparedPhotos == 1 && counts.originalBytes == 90 && counts.preparedBytes == 50)
    let known = try await ledger.read { try Int.fetchAll($0, sql: "SELECT known FROM conversations ORDER BY id") }
    #expect(known == [1, 0])
  }

  @Test("An upgraded ledger counts received photos apart from sent ones")
  func ninth() async throws {
    let received = """
      INSERT INTO received (message, inbox, conversation_id, remote, position, own, digest, attachment, state, received_at)
        VALUES ('ra', 'me', 1, 'x', 0, 0, '', '{}', 'downloaded', 5), ('rb', 'me', 1, 'y', 0, 0, '', '{}', 'forgotten', 5),
          ('ma', 'me', 1, 'ma', -1, 1, '', '{}', 'downloaded', 5);
      INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width, original_height,
          bytes, width, height, digest, path, thumbnail_bytes, created_at, downloaded_at)
        VALUES ('ra', 'me', 1, '', 'jpeg', 800, 9, 9, 400, 5, 5, 'f', 'q', 7, 6, 8);
      """
    try EarlierProgram.ninth.makeLedger(at: state.path(of: Ledger.fileName), holding: Self.rows + received)
    let ledger = try Ledger(in: state)
    let counts = try await ledger.counts()
    #expect(counts.announced == 2 && counts.downloads == 2)
    #expect(counts.received.filter { $0.value > 0 } == [.downloaded: 1, .forgotten: 1])
    #expect(counts.preparedPhotos == 1 && counts.originalBytes == 90 && counts.preparedBytes == 50)
  }

  @Test("The attempts of the first program's ledger are those of their messages")
  func attempts() async throws {
    try EarlierProgram.first.makeLedger(
      at: state.path(of: Ledger.fileName),
      holding: """
        INSERT INTO conversations (id, conversation, waiting) VALUES (1, 'family', 1);
        INSERT INTO requests (id, request, dropped_as, inode, born, conversation_id, inbox, state, bytes, accepted_at)
          VALUES (1, 'a', 'a', 1, 1, 1, 'me', 'queued', 5, 0), (2, 'b', 'b', 2, 1, 1, 'me', 'sent', 5, 0);
        INSERT INTO messages
            (message, request_id, conversation_id, position, kind, file, bytes, digest, state, attempts, sent_at)
          VALUES ('ma', 1, 1, 0, 'text', 'text', 5, 'f', 'publishing', 2, NULL),
            ('mb', 2, 1, 0, 'text', 'text', 5, 'f', 'sent', 1, 9);
        INSERT INTO attempts (message, number, step, started_at, ended_at) VALUES
          ('ma', 1, 'publish', 5, NULL), ('ma', 2, 'publish', 7, NULL), ('mb', 1, 'publish', 8, 9);
        """)
    let ledger = try Ledger(in: state)
    func attempts(of request: String = "a") throws -> [RequestStory.Attempt] {
      try #require(try LedgerView(in: state).story(of: request)?.messages.first).attempts
    }
    let first = try #require(try await ledger.head(of: 1, limit: 1).first)
    #expect(first.firstTriedAt == Timestamp(milliseconds: 5))
    #expect(try attempts().map(\.number) == [1, 2])
    #expect(try attempts(of: "b").map(\.number) == [1])
    _ = try await ledger.markSent(first, Published(at: now), at: now)
    #expect(try attempts().map(\.endedAt) == [Timestamp(milliseconds: 5), now])
  }
}
