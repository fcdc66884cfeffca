import Control
import DurableFiles
import Foundation
import HTTPTypes
import Hummingbird
import Ledgers
import Messages
import Spooling
import WebAccess

extension Site {
  func addQueue(to routes: Routes) {
    routes.show("queue", may: .see, "queue", title: "Queue") { request, _, session in
      let fields = formFields(request.uri.query ?? "")
      let query = try QueueQuery(fields, inbox: session.inbox)
      let place = fields["after"].flatMap { PagePlace($0, count: 2) }
      let notice = fields["done"].flatMap(Self.notice)
      let source = try source(session)
      let reply = source.progress == nil ? nil : try? ControlClient.ask(.destinations, in: spool.state)
      return try source.queue(query, after: place, destinations: reply?.destinations, notice: notice)
    }
    routes.on(.post, "queue/flush", may: .operate) { _, _, session in
      let answer = try await order(.flush)
      logAct("flush", session, ["outcome": "\(answer)"])
      return Self.redirect(to: "/queue?done=flush-0")
    }
    for act in ["retry", "cancel"] {
      routes.on(.post, "queue/\(act)", may: .operate) { request, _, session in
        try await batch(request, session, act)
      }
      routes.on(.post, "queue/ticked/\(act)", may: .operate) { request, _, session in
        try await ticked(request, session, act)
      }
    }
  }

  /// Retries or cancels the requests that a person ticked. Those that are in another state by now stay as they are.
  private func ticked(_ request: Request, _ session: WebSession, _ act: String) async throws -> Response {
    let isRetry = act == "retry"
    let query = try QueueQuery(formFields(request.uri.query ?? ""), inbox: session.inbox)
    let body = try await request.whole(upTo: Self.mostTicks)
    let names = formValues("request", in: String(buffer: body)).compactMap { String(percentEncoded: $0) }
    guard !names.isEmpty else {
      var problem = WebProblem(.unprocessableContent, "Tick the requests first. Nothing was done.")
      problem.back = ("/queue?\(query.address)", "Queue")
      throw problem
    }
    let count = try await pool.run {
      let known = try ledger().queuedNames(among: names, inbox: session.inbox, failed: isRetry)
      return try isRetry ? retry(known) : cancelLater(known)
    }
    logAct(act, session, ["requests": "\(count)"], level: .notice)
    return Self.redirect(to: "/queue?\(query.and("done=\(act)-\(count)"))")
  }

  /// Bytes of a form with a tick for each request of a page.
  private static let mostTicks = 64 << 10

  /// Retries the failed, or cancels the waiting requests of a filter, if as many match as the person saw.
  private func batch(_ request: Request, _ session: WebSession, _ act: String) async throws -> Response {
    let isRetry = act == "retry"
    let form = try await Self.fields(of: request)
    let query = try QueueQuery(formFields(request.uri.query ?? ""), inbox: session.inbox)
    guard let expected = form["count"].flatMap(Int.init), (1...1_000_000_000).contains(expected) else {
      throw WebProblem.damagedForm
    }
    let count = try await pool.run {
      let names = try ledger().queuedNames(query.filter, failed: isRetry, limit: expected + 1)
      if names.count != expected {
        let now = try ledger().queueCounts(query.filter)
        var problem = WebProblem(
          .conflict,
          "It is not \(grouped(expected)) requests any more but \(grouped(isRetry ? now.failed : now.waiting)). "
            + "Nothing was done.")
        problem.back = ("/queue?\(query.address)", "Queue")
        throw problem
      }
      return try isRetry ? retry(names) : cancelLater(names)
    }
    logAct(act, session, ["requests": "\(count)", "filter": "\(query.address)"], level: .notice)
    return Self.redirect(to: "/queue?\(query.and("done=\(act)-\(count)"))")
  }

  /// Moves failed requests to `new/`. Returns how many were there.
  private func retry(_ names: [String]) throws -> Int {
    var count = 0
    for name in names where RequestName(name) != nil {
      if try spool.failed.entry(name) != nil, try spool.failed.move(name, to: spool.new, as: name) { count += 1 }
    }
    try spool.new.sync()
    try spool.failed.sync()
    return count
  }

  /// Leaves orders in `cancel/`, which the daemon carries out, also after a restart.
  private func cancelLater(_ names: [String]) throws -> Int {
    let most = 4000
    for start in stride(from: 0, to: names.count, by: most) {
      let part = names[start..<min(start + most, names.count)]
      try spool.cancel.write(Array(part.map { "\($0)\n" }.joined().utf8), as: "web-\(UUID().uuidString)")
    }
    try spool.cancel.sync()
    return names.count
  }
}
