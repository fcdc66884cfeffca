import GRDB
import Messages
import Synchronization

/// Totals that only grow, and times of last events: the rows of `counts`. Within a group of changes they are summed in
/// memory and written once before the commit. A change that is rolled back takes its totals with it.
final class Totals: Sendable {
  /// The totals of this thread's transaction; nil outside of `GroupCommit`.
  @TaskLocal fileprivate static var current: Totals?

  private struct Sums {
    var added: [String: Int] = [:]
    var latest: [String: Int64] = [:]
  }

  private let sums = Mutex(Sums())

  /// Runs `body` within a transaction, and writes its totals if it returns true.
  static func counted(in database: Database, _ body: () throws -> Bool) throws -> Bool {
    let totals = Totals()
    guard try $current.withValue(totals, operation: body) else { return false }
    let sums = totals.sums.withLock { $0 }
    for (name, more) in sums.added { try database.count(name, more) }
    for (name, time) in sums.latest { try database.count(name, latest: time) }
    return true
  }

  fileprivate func add(_ name: String, _ more: Int) { sums.withLock { $0.added[name, default: 0] += more } }

  fileprivate func add(_ name: String, latest time: Int64) {
    sums.withLock { $0.latest[name] = max($0.latest[name] ?? time, time) }
  }
}

extension Database {
  func count(_ name: String, _ more: Int = 1) throws {
    if more == 0 { return }
    if let totals = Totals.current { return totals.add(name, more) }
    try run(
      "INSERT INTO counts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value", name, more)
  }

  /// Keeps the latest time of an event, in milliseconds since 1970.
  func count(_ name: String, latest time: Int64) throws {
    if let totals = Totals.current { return totals.add(name, latest: time) }
    try run(
      "INSERT INTO counts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)", name, time
    )
  }

  /// Counts a request that entered this state, except for drafts that were sent or dropped.
  func count(_ state: RequestState, _ more: Int = 1) throws { try count("requests.\(state.rawValue)", more) }

  /// Counts a message, or a draft's photo, that could not go on.
  func count(setback cause: Cause) throws { try count("setbacks.\(cause.rawValue)") }
}
