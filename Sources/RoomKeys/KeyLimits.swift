import GRDB
import Messages

/// The bounds of what others can make us keep. Where a table is full, the user who fills most of it loses first.
extension KeyFile {
  package static let mostRoomKeys = 5000
  /// Room keys and sessions of users who were not seen in any room that is listened to.
  package static let mostOfStrangers = 200
  static let mostSessions = 10_000
  package static let mostWaiting = 2000
  /// How long an event waits for its key, in milliseconds.
  static let patience: Int64 = 7 * 24 * 3600 * 1000

  /// Notes who is in a room, before `prune`.
  package func note(_ members: Set<String>, of room: String) async throws(DeliveryError) {
    try await change { database in
      let users = try String.fetchAll(
        database, sql: "SELECT DISTINCT user FROM roomKeys WHERE room = ? AND NOT isMember", arguments: [room])
      for user in users where members.contains(user) {
        try database.execute(
          sql: "UPDATE roomKeys SET isMember = 1 WHERE room = ? AND user = ?", arguments: [room, user])
        try database.execute(sql: "UPDATE olm SET isMember = 1 WHERE user = ?", arguments: [user])
      }
    }
  }

  /// Removes what is over the bounds.
  package func prune(now: Timestamp) async throws(DeliveryError) {
    try await change { database in
      try database.execute(
        sql: "DELETE FROM waiting WHERE receivedAt < ?", arguments: [now.milliseconds - Self.patience])
      try database.execute(
        sql: "DELETE FROM unreadable WHERE failedAt < ?", arguments: [now.milliseconds - Self.patience])
      try Self.prune("waiting", of: "TRUE", to: Self.mostWaiting, database)
      try Self.prune("unreadable", of: "TRUE", to: Self.mostUnreadable, database)
      try Self.prune("olm", of: "NOT isMember", to: Self.mostOfStrangers, database)
      try Self.prune("olm", of: "isMember", to: Self.mostSessions, database)
      let strangers = try Self.prune("roomKeys", of: "NOT isMember", to: Self.mostOfStrangers, database)
      let members = try Self.prune("roomKeys", of: "isMember", to: Self.mostRoomKeys, database)
      if strangers + members == 0 { return }
      // A replay of a session that is gone cannot be opened.
      try database.execute(sql: "DELETE FROM opened WHERE (session, user) NOT IN (SELECT session, user FROM roomKeys)")
    }
  }

  /// Removes rows until `most` are left: always the last one in the order below of the user who has most rows. Among
  /// users with equally many, those go first whose rows were of no use.
  ///
  /// - Returns: how many were removed.
  @discardableResult private static func prune(
    _ table: String, of kind: String, to most: Int, _ database: Database
  ) throws -> Int {
    let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table) WHERE \(kind)") ?? 0
    if count <= most { return 0 }
    // Key, whether the row is of use, and its age.
    let (key, use, age) =
      switch table {
      case "olm": ("session", "FALSE", "usedAt")
      case "waiting": ("event", "FALSE", "receivedAt")
      case "unreadable": ("user, senderKey", "FALSE", "failedAt")
      default:
        (
          "room, session, user",
          """
          usedAt IS NOT NULL OR EXISTS (SELECT 1 FROM waiting WHERE waiting.room = roomKeys.room
            AND waiting.session = roomKeys.session AND waiting.user = roomKeys.user)
          """, "receivedAt"
        )
      }
    try database.execute(
      sql: """
        WITH rows AS (SELECT \(key), user AS owner, \(use) AS isOfUse, \(age) AS age FROM \(table) WHERE \(kind)),
          ranked AS (SELECT *, row_number() OVER (PARTITION BY owner ORDER BY isOfUse DESC, age DESC) AS place,
            max(isOfUse) OVER (PARTITION BY owner) AS hasUse FROM rows)
        DELETE FROM \(table) WHERE (\(key)) IN
          (SELECT \(key) FROM ranked ORDER BY place DESC, hasUse, isOfUse, age LIMIT ?)
        """, arguments: [count - most])
    return count - most
  }
}
