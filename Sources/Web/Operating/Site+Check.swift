import Control
import HTTPTypes
import Hummingbird
import Messages
import WebAccess

extension Site {
  /// Seconds that a browser waits for a round. A slower one is shown when the page is opened again.
  private static let checkPatience = 20
  /// Seconds for the daemon's answer; it ends a round itself after 10 minutes.
  private static let daemonPatience = 660

  func addCheck(to routes: Routes) {
    routes.show("check", may: .see, "check", title: "Check") { _, _, session in
      try Self.expectAllInboxes(session)
      return try source(session).check(board)
    }
    routes.on(.post, "check", may: .operate) { _, _, session in
      // Without a daemon nobody could answer.
      _ = try await order(.listening)
      await board.run(patience: .seconds(Self.checkPatience)) { await round() }
      logAct("check", session)
      return Self.redirect(to: "/check")
    }
  }

  /// - Throws: `WebProblem` for a session of one inbox: the page tells of all.
  static func expectAllInboxes(_ session: WebSession) throws(WebProblem) {
    guard session.inbox == nil else {
      throw WebProblem(.forbidden, "This session is of one inbox, and this page tells of all.")
    }
  }

  private func round() async -> CheckBoard.Round {
    var round: [ControlReply.Outcome] = []
    var fault: String?
    for request in [ControlRequest.checkSpool, .check] {
      do {
        let reply = try await pool.run {
          try ControlClient.ask(request, in: spool.state, patience: Self.daemonPatience)
        }
        round += reply?.outcomes ?? []
        if reply == nil { fault = "The daemon has stopped" }
      } catch { fault = "\(error)" }
    }
    return CheckBoard.Round(at: .now(), outcomes: round, fault: fault)
  }
}

extension PageSource {
  /// The last round of checks.
  func check(_ board: CheckBoard) throws -> Values {
    let last = board.last
    let outcomes = last?.outcomes ?? []
    let bad = outcomes.count { !$0.isDone }
    let summary = bad == 0 ? "\(outcomes.count) good" : "\(outcomes.count - bad) good, \(bad) to mend"
    return try frame(page: .check).merging([
      "isRunning": board.isRunning, "hasRound": last != nil,
      "summary": last.map { "\(summary) · \(clock.distance($0.at)) ago" } ?? "Not checked yet",
      "outcomes": outcomes.sorted { !$0.isDone && $1.isDone }.map { outcome -> Values in
        ["subject": shown(outcome.subject), "isGood": outcome.isDone, "sentence": shown(outcome.sentence)]
      },
      "hasFault": last?.fault != nil, "fault": sentence(last?.fault ?? ""),
    ]) { $1 }
  }
}
