import GRDB

/// What the ledger keeps of the inboxes' own profile photos.
extension LedgerSchema {
  static func registerProfiles(in migrator: inout DatabaseMigrator) {
    migrator.registerMigration("v9 profiles") { database in
      try database.execute(
        sql: """
          CREATE TABLE profiles (
            inbox TEXT PRIMARY KEY,
            conversation_id INTEGER NOT NULL REFERENCES conversations(id),
            message TEXT,
            network TEXT NOT NULL,
            url TEXT,
            changed_at INTEGER NOT NULL
          ) STRICT, WITHOUT ROWID;
          ALTER TABLE uploads ADD COLUMN profile_of TEXT;
          CREATE INDEX uploads_profile ON uploads(profile_of) WHERE profile_of IS NOT NULL;
          INSERT INTO counts VALUES ('sent.profile', 0), ('sent.profile-removal', 0);
          """)
    }
  }
}
