import HTTPTypes
import Hummingbird
import Ledgers
import Messages
import Spooling
import WebAccess

extension Site {
  func addReading(to routes: Routes) {
    routes.on(.get, "/") { request, _, session in
      let filter = Self.value("filter", in: request) ?? ""
      let place = Self.value("after", in: request).flatMap { PagePlace($0, count: 2) }
      return try await pool.run {
        let values = try source(session).frame(filter: filter, after: place, limit: 60)
        if request.isByScript { return templates.fragment("home", values) }
        return templates.page("conversations", title: "photospool", values)
      }
    }
    routes.on(.get, "conversation") { request, _, session in
      let conversation = try Self.conversation(request)
      let at = Self.value("at", in: request)
      let after = Self.value("after", in: request).flatMap { PagePlace($0, count: 3) }
      let before = Self.value("before", in: request).flatMap { PagePlace($0, count: 3) }
      return try await pool.run {
        let source = try source(session)
        let here = try at.flatMap { try source.ledger?.place(after: MessageID(unchecked: $0)) }
        return try page(
          of: conversation, source, asPart: request.isByScript, from: after ?? before ?? here, isForward: after != nil,
          composer: composer(to: conversation, session))
      }
    }
    routes.on(.post, "conversation/date", may: .see) { request, _, session in
      let conversation = try Self.conversation(request)
      let day = try await Self.fields(of: request)["date"] ?? ""
      return try await pool.run { Self.redirect(to: try source(session).address(of: day, in: conversation)) }
    }
    routes.on(.get, "conversation/settings", may: .see) { request, _, session in
      let conversation = try Self.conversation(request)
      return try await pool.run {
        let values = try source(session).settings(of: conversation)
        return templates.page("settings", title: "\(shown(conversation.text)) · photospool", values)
      }
    }
  }

  /// A composer that goes on with the draft that there is.
  func composer(to conversation: ConversationID, _ session: WebSession) throws -> PageSource.Composer {
    // A draft that the session may not see does not keep it from sending.
    let draft = try? desk.find(to: conversation, for: session)
    return PageSource.Composer(id: Self.newKey(session), text: try draft?.text() ?? "", draft: draft)
  }

  /// A conversation's page.
  ///
  /// - Parameter asPart: only its main part, for the page's script.
  func page(
    of conversation: ConversationID, _ source: PageSource, asPart: Bool = false, from place: PagePlace? = nil,
    isForward: Bool = false,
    composer: PageSource.Composer, status: HTTPResponse.Status = .ok
  ) throws -> Response {
    let values = try source.conversation(
      conversation, asPart: asPart, from: place, isForward: isForward, composer: composer)
    if asPart { return templates.fragment("talk", values, status: status) }
    return templates.page("conversation", title: "\(shown(conversation.text)) · photospool", values, status: status)
  }

  /// A new idempotency key for one composition.
  static func newKey(_ session: WebSession) -> String {
    session.keyPrefix + (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
  }
}
