import Control
import Hummingbird
import Ledgers
import SpoolMetering
import WebAccess

extension PageSource {
  /// Plots of a day by the hour, or of a week by six hours.
  func metrics(week: Bool) throws -> Values {
    let (seconds, count) = week ? (6 * 3600, 28) : (3600, 24)
    let rates = try ledger?.rates(inbox: inbox, seconds: seconds, count: count, until: clock.now) ?? []
    let labels = rates.map {
      clock.short($0.from) + (clock.isSameDay($0.from, clock.now) ? "" : " \(clock.time($0.from))")
    }
    let (waiting, failed) = try counts(QueueFilter(inbox: inbox))
    let use = try use()
    func number(_ value: Double) -> String { grouped(Int(value)) }
    let plots = [
      Plot(title: "Sent", name: "sent", bars: rates.map { Double($0.sent) }, word: number),
      Plot(title: "Failed", name: "failed", bars: rates.map { Double($0.failed) }, word: number),
      Plot(
        title: "Time from acceptance to the end", name: "wait", bars: rates.map(\.median), line: rates.map(\.slow),
        word: LocalTime.words),
    ]
    return try frame(page: .metrics).merging([
      "isWeek": week, "stretch": week ? "6 hours" : "hour", "isAll": inbox == nil,
      "plots": plots.map { $0.values(labels: labels) },
      "sentTotal": grouped(rates.reduce(0) { $0 + $1.sent }),
      "failedTotal": grouped(rates.reduce(0) { $0 + $1.failed }),
      "waiting": grouped(waiting), "failed": grouped(failed), "cache": "\(use.percent) %",
      "filled": min(100, use.percent),
    ]) { $1 }
  }
}

extension Site {
  func addMetrics(to routes: Routes) {
    routes.show("metrics", may: .see, "metrics", title: "Metrics") { request, _, session in
      try source(session).metrics(week: Self.value("days", in: request) == "7")
    }
    routes.on(.get, "metrics.txt", may: .see) { _, _, session in
      try Self.expectAllInboxes(session)
      let text = try await pool.run {
        try SpoolMetrics.text(
          shelf.viewIfThereIsOne()?.counts(), settings.cache,
          daemon: (try? ControlClient.ask(.metrics, in: spool.state, patience: 5))??.metrics)
      }
      return Response(text.utf8, type: "text/plain; version=0.0.4; charset=utf-8")
    }
  }
}
