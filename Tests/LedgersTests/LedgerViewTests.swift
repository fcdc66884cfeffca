import DurableFiles
import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite(.timeLimit(.minutes(10))) struct LedgerViewTests {
  private let scratch: TemporaryDirectory
  private let state: Directory

  init() throws {
    scratch = try TemporaryDirectory()
    state = try Directory(path: scratch.path)
  }

  @Test("A ledger that is yet to be brought up to date is read, where nothing was changed that is read")
  func lastOfShape() throws {
    try make(upTo: LedgerSchema.lastOfShape, withRequest: true)
    var lines = [String]()
    try LedgerView(in: state).forEachLine { lines.append($0.request) }
    #expect(lines == ["a"])
  }

  @Test("A ledger that cannot be read yet is not taken for none")
  func older() throws {
    try make(upTo: "v2 conversations wait for destinations", withRequest: true)
    // A janitor has removed what was over.
    try change("DELETE FROM messages; DELETE FROM requests")
    #expect { try LedgerView(ifThereIsOneIn: state) } throws: { error in
      if case LedgerError.older = error { true } else { false }
    }
  }

  @Test("Tables that a daemon is about to make are none")
  func halfMade() throws {
    #expect(try LedgerView(ifThereIsOneIn: state) == nil)
    try make(upTo: "v2 conversations wait for destinations", withRequest: false)
    #expect(try LedgerView(ifThereIsOneIn: state) == nil)
  }

  private func change(_ sql: String) throws {
    let queue = try DatabaseQueue(path: scratch.path(Ledger.fileName))
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func make(upTo migration: String, withRequest: Bool) throws {
    let pool = try DatabasePool(path: scratch.path(Ledger.fileName))
    try LedgerSchema.migrator.migrate(pool, upTo: migration)
    if withRequest {
      try pool.write { database in
        try database.execute(
          sql: """
            INSERT INTO conversations (conversation, waiting) VALUES ('family', 1);
            INSERT INTO requests (request, dropped_as, inode, born, conversation_id, inbox, state, bytes, accepted_at)
              VALUES ('a', 'a', 1, 1, 1, 'me', 'queued', 5, 1);
            INSERT INTO messages (message, request_id, conversation_id, position, kind, file, bytes, digest, state)
              VALUES ('m', 1, 1, 0, 'text', 'text', 5, 'd', 'pending');
            """)
      }
    }
    try pool.close()
  }
}
