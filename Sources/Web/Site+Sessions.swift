import HTTPTypes
import Hummingbird
import Messages
import WebAccess

/// Links and sessions of everybody, which concern all inboxes.
extension Site {
  func addSessions(to routes: Routes) {
    routes.show("sessions", may: .operate, "sessions", title: "Sessions") { _, _, session in
      let source = try source(session)
      var values = try source.frame()
      values["sessions"] = try access.entries(at: .now()).map { $0.values(for: session, at: source.clock) }
      return values
    }
    routes.on(.post, "sessions/:id/end", may: .operate) { _, context, session in
      let id = try context.parameters.require("id")
      guard try await pool.run({ try access.end(id) }) else {
        throw WebProblem(.notFound, "This link or session has ended already.")
      }
      logAct("end", session, ["ended": "\(id)"], level: .notice)
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
