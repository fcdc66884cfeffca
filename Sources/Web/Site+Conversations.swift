import Control
import HTTPTypes
import Hummingbird
import Messages
import WebAccess

extension Site {
  func addConversations(to routes: Routes) {
    routes.on(.post, "conversation/prefs", may: .see) { request, _, session in
      let conversation = try Self.conversation(request)
      let form = try await Self.fields(of: request)
      if let fetch = form["fetch"], FetchPolicy(rawValue: fetch) == nil {
        throw WebProblem(.badRequest, "There is no such choice.")
      }
      _ = try await order(
        .prefer(
          conversation: conversation.text, fetch: form["fetch"], autoReveal: form["auto-reveal"].map { $0 == "on" }))
      logAct("prefs", session, ["conversation": "\(escaped(conversation.text))"])
      let page = form["fetch"] == nil ? "" : "/settings"
      return Self.redirect(to: "/conversation\(page)?name=\(inAddress(conversation.text))")
    }
    for (word, order) in [("hold", ControlRequest.hold), ("release", ControlRequest.release)] {
      routes.on(.post, "conversation/\(word)", may: .operate) { request, _, session in
        let conversation = try Self.conversation(request)
        let form = try await Self.fields(of: request)
        _ = try await self.order(order([conversation.text]))
        logAct(word, session, ["conversation": "\(escaped(conversation.text))"])
        if form["back"] == "queue" { return Self.redirect(to: "/queue") }
        return Self.redirect(to: "/conversation/settings?name=\(inAddress(conversation.text))")
      }
    }
  }
}
