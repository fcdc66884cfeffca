import Control
import Ledgers
import Messages

/// The queue: what waits, what has failed, and what it waits for.
extension PageSource {
  private static let minutes = [5, 10, 20, 40, 80, 160, 320, 640, 1280]

  /// - Parameter destinations: those of the daemon; nil if none runs.
  func queue(
    _ query: QueueQuery, after place: PagePlace?, destinations: [ControlReply.Destination]?, notice: String?
  ) throws -> Values {
    let (requests, end) = try ledger?.queue(query.filter, after: place) ?? ([], nil)
    let all = try counts(QueueFilter(inbox: inbox))
    let isFiltered = !query.filter.isEmpty
    let matching: (waiting: Int, failed: Int)
    if !isFiltered {
      matching = all
    } else if place == nil && end == nil {
      // All of them are on this page.
      let failed = requests.count { $0.isFailed }
      matching = (requests.count - failed, failed)
    } else {
      matching = try counts(query.filter)
    }
    let address = query.address
    var values = try frame(notice: notice, page: .queue)
    values.merge([
      "hasRequests": !requests.isEmpty, "requests": requests.map(row),
      "hasMore": end != nil, "more": end.map { "/queue?\(query.and("after=\($0)"))" } ?? "",
      "isFiltered": isFiltered, "matching": "\(grouped(matching.waiting + matching.failed)) match",
      "address": address, "to": shown(query.conversation), "text": shown(query.filter.text),
      "canRetryAll": session.may(.operate) && matching.failed > 0, "failedCount": matching.failed,
      "failedWords": grouped(matching.failed), "canCancelAll": session.may(.operate) && matching.waiting > 0,
      "waitingCount": matching.waiting, "waitingWords": grouped(matching.waiting),
    ]) { $1 }
    values["summary"] = try summary(all)
    values["states"] = QueueFilter.State.allCases.map { ["value": $0.rawValue, "isChosen": $0 == query.filter.state] }
    values["causes"] = Cause.allCases.filter { $0 != .cancelled }
      .map { ["value": $0.rawValue, "isChosen": $0 == query.filter.cause] }
    values.merge(try ages(isShown: !isFiltered && place == nil)) { $1 }
    values["destinations"] = try self.destinations(destinations)
    return values
  }

  private func summary(_ counts: (waiting: Int, failed: Int)) throws -> String {
    let oldest = try ledger?.oldestWaiting(inbox: inbox)
    let parts = [
      counts.waiting == 0 ? "Nothing waits" : "\(grouped(counts.waiting)) wait",
      counts.failed == 0 ? nil : "\(grouped(counts.failed)) failed", oldest.map { "oldest \(clock.distance($0))" },
    ]
    // Lines break between the parts.
    return parts.compactMap { $0?.replacing(" ", with: "\u{a0}") }.joined(separator: " · ")
  }

  private func ages(isShown: Bool) throws -> Values {
    let rows =
      isShown ? try ledger?.ages(inbox: inbox, minutes: Self.minutes, at: clock.now, limit: 12) ?? [] : []
    return [
      "hasAges": !rows.isEmpty, "bounds": Self.minutes.map { "\($0)" } + ["more"],
      "ages": rows.map { conversation, counts -> Values in
        [
          "conversation": shown(conversation.description), "toQuery": inAddress(conversation.description),
          "counts": counts.map { ["isZero": $0 == 0, "count": grouped($0)] as Values },
        ]
      },
    ]
  }

  /// The stores and networks; without a daemon those that conversations wait for.
  private func destinations(_ reports: [ControlReply.Destination]?) throws -> [Values] {
    let parked = inbox == nil ? try ledger?.parkedConversations() ?? [:] : [:]
    let reports = reports ?? parked.keys.sorted().map { ControlReply.Destination($0) }
    return reports.map { report in
      let waiting = parked[report.name] ?? 0
      return [
        "name": shown(report.name), "isGood": report.error == nil && (waiting == 0 || progress != nil),
        "sentence": sentence(state(of: report)), "hasWaiting": waiting > 0,
        "waiting": "\(counted(waiting, "conversation waits", "conversations wait")) for it.",
      ]
    }
  }

  private func state(of report: ControlReply.Destination) -> String {
    guard let error = report.error else { return progress == nil ? "The daemon does not run" : "Used" }
    let since = report.since.map { ", for \(clock.distance($0))" } ?? ""
    let next = report.nextProbe.map { " Next probe in \(clock.distance($0))." } ?? " The next message is a probe."
    return "Left alone\(since): \(error).\(next)"
  }

  private func row(_ request: QueuedRequest) -> Values {
    let state = request.isFailed ? "failed" : request.state?.rawValue ?? "pending"
    let percent = request.message.flatMap { progress?[$0.text] }.map { ", \(Int($0 * 100)) %" } ?? ""
    let why = why(request)
    let isHeld = request.isHeld && !request.isFailed
    return [
      "request": shown(request.request), "requestQuery": inAddress(request.request), "isFailed": request.isFailed,
      "isMoving": !request.isFailed && request.state != .pending,
      "state": state + percent,
      "hasConversation": request.conversation != nil, "conversation": shown(request.conversation?.description ?? ""),
      "toQuery": inAddress(request.conversation?.description ?? ""),
      "details": details(request), "isHeld": isHeld, "hasWhy": why != nil, "why": sentence(why ?? ""),
      "canRelease": isHeld && session.may(.operate), "nameQuery": inAddress(request.conversation?.text ?? ""),
    ]
  }

  private func details(_ request: QueuedRequest) -> String {
    var parts = request.messages == 0 ? [] : [counted(request.messages, "message")]
    parts += [sizeInWords(request.bytes), "accepted \(clock.exact(request.acceptedAt))"]
    if request.attempts > 0 { parts.append(counted(request.attempts, "try", "tries")) }
    if !request.isFailed, let next = request.nextAttempt { parts.append("next \(clock.exact(next))") }
    return parts.joined(separator: " · ")
  }

  private func why(_ request: QueuedRequest) -> String? {
    if let error = request.error { return error }
    if request.isFailed { return nil }
    if request.isHeld { return "Held by hand" }
    return request.waitsFor.map { "It waits for \($0)" }
  }
}
