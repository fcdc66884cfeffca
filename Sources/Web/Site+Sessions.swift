import HTTPTypes
import Hummingbird
import Messages
import WebAccess

/// Links and sessions of everybody, which concern all inboxes.
extension Site {
  func addSessions(to router: Router<WebContext>) {
    router.get("sessions") { request, context in
      let session = try await session(request, context, may: .operate)
      return try await pool.run {
        let source = try source(session)
        var values = try source.frame()
        values["sessions"] = try access.entries(at: .now()).map { $0.values(for: session, at: source.clock) }
        return templates.page("sessions", title: "Sessions · photospool", values)
      }
    }
    router.post("sessions/:id/end") { request, context in
      let session = try await session(request, context, may: .operate)
      let id = try context.parameters.require("id")
      guard try await pool.run({ try access.end(id) }) else {
        throw WebProblem(.notFound, "This link or session has ended already.")
      }
      log.notice("web", metadata: ["act": "end", "ended": "\(id)", "session": "\(session.grant.name)"])
      return Self.redirect(to: "/sessions")
    }
  }
}

extension AccessEntry {
  fileprivate func values(for session: WebSession, at clock: LocalTime) -> Values {
    [
      "id": id, "name": shown(grant.name), "isLink": isLink, "isCurrent": id == session.id,
      "rights": grant.rightsInWords, "hasInbox": grant.inbox != nil, "inbox": shown(grant.inbox ?? ""),
      "user": user.map { "user \($0)" } ?? (isLink ? "anybody" : "another computer"), "time": clock.short(time),
      "end": clock.day(grant.expires),
    ]
  }
}
