import GRDB

/// Who sent the photos that were received.
extension LedgerSchema {
  static func registerSenders(in migrator: inout DatabaseMigrator) {
    migrator.registerMigration("v12 senders of received photos") { database in
      try database.execute(sql: "ALTER TABLE received ADD COLUMN sender TEXT")
    }
  }
}
