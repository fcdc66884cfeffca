import Digests
import GRDB
import Messages
import Olm

/// Keys for the homeserver to give to devices that open sessions with ours: the `one_time_keys` and `fallback_keys` of
/// `/keys/upload`.
package struct KeyOffer: Sendable {
  package let ids: [String]
  /// The JSON object to upload: the same bytes until it is confirmed.
  package let body: [UInt8]
}

extension KeyFile {
  /// Fewer one-time keys at the homeserver are refilled to `most`.
  package static let fewest = 25
  package static let most = 50
  /// Private halves of keys that the homeserver may have given away. A message that uses an older one is lost.
  static let mostPublished = 1000
  /// How long messages may use a fallback key that was replaced, in milliseconds.
  static let fallbackMemory: Int64 = 24 * 3600 * 1000

  /// The keys to upload now, if any. Their private halves are durable when this returns. Keys that the homeserver has
  /// not confirmed are offered again, unchanged.
  ///
  /// - Parameters:
  ///   - count: unclaimed one-time keys at the homeserver; one that says nothing has none.
  ///   - needsFallback: the homeserver has no unused fallback key.
  package func offer(
    count: Int, needsFallback: Bool, for device: OwnDevice, now: Timestamp
  ) async throws(DeliveryError) -> KeyOffer? {
    try await change { database in
      // Nobody can use keys of a former login any more.
      try database.execute(sql: "DELETE FROM offered WHERE device <> ?", arguments: [device.id])
      try database.execute(
        sql: "DELETE FROM offered WHERE replacedAt < ?", arguments: [now.milliseconds - Self.fallbackMemory])
      let unpublished = "SELECT count(*) FROM offered WHERE NOT isPublished AND isFallback = ?"
      let waiting = try Int.fetchOne(database, sql: unpublished, arguments: [false]) ?? 0
      if count < Self.fewest {
        for _ in 0..<max(0, Self.most - max(0, count) - waiting) {
          try Self.insert(isFallback: false, for: device, now, database)
        }
      }
      if needsFallback, try Int.fetchOne(database, sql: unpublished, arguments: [true]) == 0 {
        try Self.insert(isFallback: true, for: device, now, database)
      }
      return try Self.offer(of: device, database)
    }
  }

  /// Notes that the homeserver has taken an offer.
  package func confirm(_ offer: KeyOffer, now: Timestamp) async throws(DeliveryError) {
    try await change { database in
      for id in offer.ids {
        try database.execute(sql: "UPDATE offered SET isPublished = 1 WHERE id = ?", arguments: [id])
      }
      // All but the newest one.
      try database.execute(
        sql: """
          UPDATE offered SET replacedAt = ? WHERE isFallback AND isPublished AND replacedAt IS NULL
            AND rowid < (SELECT max(rowid) FROM offered WHERE isFallback AND isPublished)
          """, arguments: [now.milliseconds])
      try database.execute(
        sql: """
          DELETE FROM offered WHERE rowid IN (SELECT rowid FROM offered WHERE isPublished AND NOT isFallback
            ORDER BY rowid DESC LIMIT -1 OFFSET ?)
          """, arguments: [Self.mostPublished])
    }
  }

  private static func insert(
    isFallback: Bool, for device: OwnDevice, _ now: Timestamp, _ database: Database
  ) throws {
    let pair = try Curve25519KeyPair()
    // Random, because a homeserver refuses a former id with another key, as after a restored backup.
    let id = try SecretBytes.random(9).bytes.unpaddedBase64URL
    try database.execute(
      sql: "INSERT INTO offered (id, device, public, private, isFallback, madeAt) VALUES (?, ?, ?, ?, ?, ?)",
      arguments: [
        id, device.id, pair.publicKey.base64, pair.privateKey.bytes.unpaddedBase64, isFallback, now.milliseconds,
      ])
  }

  private static func offer(of device: OwnDevice, _ database: Database) throws -> KeyOffer? {
    let rows = try Row.fetchAll(
      database, sql: "SELECT id, public, isFallback FROM offered WHERE NOT isPublished ORDER BY rowid LIMIT 100")
    if rows.isEmpty { return nil }
    var (oneTime, fallback): (JSONObjectText, JSONObjectText) = ([:], [:])
    for row in rows {
      let isFallback: Bool = row["isFallback"]
      var key: JSONObjectText = ["fallback": isFallback ? true : nil, "key": row["public"] as String]
      // Its members are in order and its texts are base64, so this is canonical JSON.
      let signature: JSONObjectText = [
        "ed25519:\(device.id)": try device.signing.sign(key.bytes).unpaddedBase64
      ]
      key.add("signatures", [device.user: signature] as JSONObjectText)
      let name = "signed_curve25519:\(row["id"] as String)"
      if isFallback { fallback.add(name, key) } else { oneTime.add(name, key) }
    }
    let body: JSONObjectText = ["one_time_keys": oneTime, "fallback_keys": fallback]
    return KeyOffer(ids: rows.map { $0["id"] }, body: body.bytes)
  }

  /// The pair of a key that a message names; nil if it was used or never offered. The second value tells a fallback key,
  /// which stays.
  static func pair(
    _ key: Curve25519PublicKey, _ database: Database
  ) throws -> (pair: Curve25519KeyPair, isFallback: Bool)? {
    guard
      let row = try Row.fetchOne(
        database, sql: "SELECT private, isFallback FROM offered WHERE public = ?", arguments: [key.base64]),
      let bytes = [UInt8](base64: row["private"] as String),
      let pair = try? Curve25519KeyPair(privateKey: SecretBytes(bytes)), pair.publicKey == key
    else { return nil }
    return (pair, row["isFallback"])
  }
}
