import GRDB
import Messages

/// The schema of `keys.sqlite`, version 3. Times are milliseconds since 1970.
enum KeySchema {
  private static let version = 3

  static func prepare(_ database: Database) throws {
    let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    guard found <= version else {
      throw DeliveryError(.configError, "keys.sqlite was written by a later version of photospool; upgrade photospool")
    }
    if found == version { return }
    let steps = found == 0 ? [tables] : Array(upgrades.dropFirst(max(0, found - 1)))
    try database.execute(sql: steps.joined() + "PRAGMA user_version = \(version)")
  }

  /// Whether the pages may hold remains of deleted rows, as those of version 1.
  static func mayHaveRemains(_ database: Database) throws -> Bool {
    try Int.fetchOne(database, sql: "PRAGMA user_version") == 1
  }

  private static let tables = """
    -- One-time and fallback keys: the public half, and the private half in base64.
    CREATE TABLE offered (
      id TEXT NOT NULL PRIMARY KEY,
      device TEXT NOT NULL,
      public TEXT NOT NULL UNIQUE,
      private TEXT NOT NULL,
      isFallback INTEGER NOT NULL,
      -- Whether the homeserver has confirmed the upload.
      isPublished INTEGER NOT NULL DEFAULT 0,
      madeAt INTEGER NOT NULL,
      -- When a later fallback key was published.
      replacedAt INTEGER
    ) STRICT;
    -- Olm sessions with other devices, without the chains that encrypt.
    CREATE TABLE olm (
      session TEXT NOT NULL PRIMARY KEY,
      -- The identity key of the other device.
      senderKey TEXT NOT NULL,
      user TEXT NOT NULL,
      -- Whether the user was seen in a room that is listened to, or gets keys of rooms.
      isMember INTEGER NOT NULL DEFAULT 0,
      state TEXT NOT NULL,
      usedAt INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX olmBySender ON olm (senderKey, usedAt);
    -- Megolm sessions. A user's devices share a name space: a session's name is that of its signing key.
    CREATE TABLE roomKeys (
      room TEXT NOT NULL,
      session TEXT NOT NULL,
      user TEXT NOT NULL,
      -- The Curve25519 and Ed25519 keys that the sending device claims.
      senderKey TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      -- Whether such a device of the user was found.
      isVerified INTEGER NOT NULL DEFAULT 0,
      isMember INTEGER NOT NULL DEFAULT 0,
      key TEXT NOT NULL,
      receivedAt INTEGER NOT NULL,
      -- When it last opened a message.
      usedAt INTEGER,
      PRIMARY KEY (room, session, user)
    ) STRICT, WITHOUT ROWID;
    \(opened)
    -- Events whose key, or whose sender's device, is not known yet.
    CREATE TABLE waiting (
      event TEXT NOT NULL PRIMARY KEY,
      room TEXT NOT NULL,
      session TEXT NOT NULL,
      user TEXT NOT NULL,
      body TEXT NOT NULL,
      receivedAt INTEGER NOT NULL,
      retryAt INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX waitingBySession ON waiting (room, session, user);
    \(unreadable)
    """

  private static let opened = """
    -- Which event of a user used which message of a session. Another user may have passed the session on.
    CREATE TABLE opened (
      session TEXT NOT NULL,
      user TEXT NOT NULL,
      number INTEGER NOT NULL,
      event TEXT NOT NULL,
      PRIMARY KEY (session, user, number)
    ) STRICT, WITHOUT ROWID;
    """

  private static let unreadable = """
    -- Devices with a message that could not be opened.
    CREATE TABLE unreadable (
      user TEXT NOT NULL,
      senderKey TEXT NOT NULL,
      -- When such a message came last, and when a new session was opened last.
      failedAt INTEGER NOT NULL,
      reopenedAt INTEGER,
      PRIMARY KEY (user, senderKey)
    ) STRICT, WITHOUT ROWID;

    """

  /// The steps from version 1 on.
  private static let upgrades = [openedByUser, unreadable]

  /// In version 1, `opened` had no user: it was one whose key has opened a message.
  private static let openedByUser = """
    ALTER TABLE opened RENAME TO formerlyOpened;
    \(opened)
    INSERT INTO opened SELECT DISTINCT session, user, number, event
      FROM formerlyOpened JOIN roomKeys USING (session) WHERE usedAt IS NOT NULL;
    DROP TABLE formerlyOpened;

    """
}
