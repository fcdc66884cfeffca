import GRDB
import Messages

/// The requests that ended in one stretch of time.
package struct Rate: Sendable, Equatable {
  package let from: Timestamp
  /// Requests that were sent, and that failed.
  package var sent = 0
  package var failed = 0
  /// Seconds from acceptance to the end, of half and of 95 % of the requests that were sent; nil if none was.
  package var median: Double?
  package var slow: Double?
}

extension LedgerView {
  /// Requests of a stretch whose waiting times are looked at.
  private static let sample = 500

  /// The ends in each of `count` stretches of time before `end`. The counts are of all requests that are remembered;
  /// the waiting times are those of the first 500 of a stretch.
  ///
  /// - Parameters:
  ///   - inbox: only requests of this inbox.
  ///   - seconds: the length of a stretch.
  package func rates(inbox: InboxID?, seconds: Int, count: Int, until end: Timestamp) throws -> [Rate] {
    let length = Int64(seconds) * 1000
    let begin = end.milliseconds - length * Int64(count)
    return try read { database in
      var rates = (0..<count).map { Rate(from: Timestamp(milliseconds: begin + Int64($0) * length)) }
      for (state, part) in [(RequestState.sent, \Rate.sent), (.failed, \.failed)] {
        let rows = try Row.fetchCursor(
          database,
          sql: """
            SELECT (finished_at - ?1) / ?2 AS stretch, count(*) AS count FROM requests INDEXED BY requests_over
            WHERE state = ?3 AND filed = 1 AND finished_at >= ?1 AND finished_at < ?4 AND (?5 IS NULL OR inbox = ?5)
            GROUP BY stretch
            """, arguments: [begin, length, state.rawValue, end.milliseconds, inbox?.text])
        while let row = try rows.next() {
          let stretch: Int = row["stretch"]
          if rates.indices.contains(stretch) { rates[stretch][keyPath: part] = row["count"] }
        }
      }
      for index in rates.indices where rates[index].sent > 0 {
        let from = rates[index].from.milliseconds
        let waits = try Int64.fetchAll(
          database,
          sql: """
            SELECT max(0, finished_at - accepted_at) FROM requests INDEXED BY requests_over
            WHERE state = 'sent' AND filed = 1 AND finished_at >= ?1 AND finished_at < ?2 AND (?3 IS NULL OR inbox = ?3)
            LIMIT \(Self.sample)
            """, arguments: [from, from + length, inbox?.text]
        ).sorted()
        guard !waits.isEmpty else { continue }
        rates[index].median = Double(waits[waits.count / 2]) / 1000
        rates[index].slow = Double(waits[min(waits.count - 1, waits.count * 95 / 100)]) / 1000
      }
      return rates
    }
  }
}
