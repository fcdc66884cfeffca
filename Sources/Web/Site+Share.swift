import HTTPTypes
import Hummingbird
import Messages
import Spooling
import WebAccess

/// Installing the page on a phone, and what other programs of the phone share with it.
extension Site {
  func addShare(to routes: Routes) {
    routes.router.get("manifest.webmanifest") { _, _ in
      Response(templates.manifest.utf8, type: "application/manifest+json")
    }
    routes.on(.post, "share", may: .send) { request, _, session in
      let form = try await ReceivedForm(request, into: spool, pool: pool)
      if let problem = form.problem { throw WebProblem(.unprocessableContent, "\(problem) Nothing was kept.") }
      if form.photos.isEmpty && form.text == nil { return Self.redirect(to: "/") }
      let text = [form.text, form.fields["url"]].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "\n")
      guard text.utf8.count <= RequestLimits.textBytes else {
        throw WebProblem(
          .unprocessableContent, "The text is longer than \(sizeInWords(RequestLimits.textBytes)). Nothing was kept.")
      }
      let message = try await pool.run { try SharedMessage.keep(form.photos, text: text, of: session, in: spool) }
      return Self.redirect(to: "/share/\(message.id)")
    }
    routes.show("share/:id", may: .send, "share", title: "Share") { _, context, session in
      let id = try context.parameters.require("id")
      guard let message = try SharedMessage(id, of: session, in: spool) else { throw Self.sharedAlready }
      var values = try source(session).frame(limit: 60)
      values["id"] = message.id
      values["sentence"] = try message.sentence
      return values
    }
    routes.on(.post, "share/:id", may: .send) { request, context, session in
      let id = try context.parameters.require("id")
      let form = try await Self.fields(of: request)
      let conversation = try ConversationID(Self.value("name", in: request) ?? form["name"] ?? "")
      try await desk.pool.run {
        guard let message = try SharedMessage(id, of: session, in: spool) else { throw Self.sharedAlready }
        try message.move(to: conversation, desk, for: session)
      }
      return Self.redirect(to: "/conversation?name=\(inAddress(conversation.text))#text")
    }
  }

  private static let sharedAlready = WebProblem(
    .notFound, "What was shared is in a conversation already, or was deleted.")
}
