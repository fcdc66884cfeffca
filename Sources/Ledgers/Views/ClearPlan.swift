import GRDB
import Messages

/// Photos and their bytes.
package struct PhotoAmount: Sendable, Equatable, CustomStringConvertible {
  package var photos: Int
  package var bytes: Int

  package init(photos: Int = 0, bytes: Int = 0) {
    self.photos = photos
    self.bytes = bytes
  }

  /// For people: `2 photos, 1.4 MB`.
  package var description: String { "\(counted(photos, "photo")), \(sizeInWords(bytes))" }
}

/// A rehearsal of `clear`: the originals that would go, and those that stay, by reason. Thumbnails always stay.
package struct ClearPlan: Sendable, Equatable {
  /// As `clear` counts it afterwards. It includes all that an interrupted eviction has left marked.
  package var going = PhotoAmount()
  /// Photos of unfinished requests.
  package var needed = PhotoAmount()
  /// Profile photos in use.
  package var profiles = PhotoAmount()
  /// Photos that cannot be fetched again.
  package var lastCopies = PhotoAmount()

  package init() {}

  /// A sentence for each reason, without those that keep nothing.
  package var staying: [String] {
    [
      (needed, "needed by unfinished requests"), (profiles, "in use as profile photos"),
      (lastCopies, "last copies, which cannot be fetched again"),
    ].filter { $0.0.photos > 0 }.map { "\($0.0) stay: \($0.1)" }
  }
}

extension EvictionCount {
  /// The evicted originals, with all bytes that were freed.
  package var amount: PhotoAmount { PhotoAmount(photos: photos, bytes: bytes) }
}

extension LedgerView {
  /// Rehearses `clear` for an inbox, a conversation, or all. All numbers are of the same moment; nothing is written.
  package func clearPlan(inbox: InboxID?, conversation: ConversationID?) throws -> ClearPlan {
    let scope = restriction(("p.inbox = ?", inbox?.text), ("c.conversation = ?", conversation?.text))
    return try read { database in
      var plan = ClearPlan()
      plan.going =
        try database.first(
          """
          SELECT sum(cached_bytes > 0) AS photos,
            sum(cached_bytes + iif(evicting = 2, cached_thumbnail_bytes, 0)) AS bytes
          FROM photos WHERE evicting > 0 AND pinned = 0
          """
        ) { PhotoAmount(photos: $0["photos"], bytes: $0["bytes"]) } ?? PhotoAmount()
      let kept = try Row.fetchCursor(
        database,
        sql: """
          SELECT CASE WHEN p.pinned = 1 AND unicode(c.conversation) = 1 THEN 'profile' WHEN p.pinned = 1 THEN 'needed'
              WHEN p.fetchable = 1 THEN 'goes' ELSE 'last' END AS reason,
            count(*) AS photos, sum(p.cached_bytes) AS bytes
          FROM photos p JOIN conversations c ON c.id = p.conversation_id
          WHERE p.cached_bytes > 0 AND (p.evicting = 0 OR p.pinned = 1)\(scope.sql) GROUP BY reason
          """, arguments: scope.values)
      while let row = try kept.next() {
        let amount = PhotoAmount(photos: row["photos"], bytes: row["bytes"])
        switch row["reason"] as String {
        case "goes":
          plan.going.photos += amount.photos
          plan.going.bytes += amount.bytes
        case "needed": plan.needed = amount
        case "profile": plan.profiles = amount
        default: plan.lastCopies = amount
        }
      }
      return plan
    }
  }
}
