import Control
import HTTPTypes
import Hummingbird
import Messages
import Spooling
import WebAccess

extension Site {
  func addStorage(to routes: Routes) {
    routes.show("storage", may: .see, "storage", title: "Storage") { request, _, session in
      let source = try source(session)
      let isAsked = session.inbox == nil && source.progress != nil
      let objects = isAsked ? (try? ControlClient.ask(.objects, in: spool.state))?.objects : nil
      return try source.storage(notice: Self.value("done", in: request).flatMap(Self.notice), objects: objects)
    }
    routes.show("storage/clear", may: .operate, "clear", title: "Clear") { request, _, session in
      let (inbox, conversation) = try Self.scope(request)
      return try source(session).clearing(inbox: inbox, conversation: conversation)
    }
    routes.on(.post, "storage/clear", may: .operate) { request, _, session in
      let (inbox, conversation) = try Self.scope(request)
      let answer = try await order(.clear(inbox: inbox?.text, conversation: conversation?.text), patience: 25)
      let (whose, what) = (escaped(inbox?.text ?? ""), escaped(conversation?.text ?? ""))
      logAct(
        "clear", session, ["inbox": "\(whose)", "conversation": "\(what)", "outcome": "\(answer)"], level: .notice)
      return Self.redirect(to: "/storage?done=\(inAddress("cleared \(answer)"))")
    }
    routes.show("conversation/purge", may: .operate, "purge", title: "Delete") { request, _, session in
      try source(session).purging(Self.conversation(request), problem: nil)
    }
    routes.on(.post, "conversation/purge", may: .operate) { request, _, session in
      let conversation = try Self.conversation(request)
      let typed = try await Self.fields(of: request)["confirm"] ?? ""
      guard typed == conversation.text || typed == shown(conversation.text) else {
        return try await pool.run {
          let values = try source(session).purging(
            conversation, problem: "This is not its name. Nothing was deleted.")
          return templates.page("purge", title: "Delete · photospool", values, status: .unprocessableContent)
        }
      }
      try await pool.run { try orderPurge(of: conversation) }
      // No name: purged conversations are not logged.
      logAct("purge", session, level: .notice)
      let isDone = try await isPurged(conversation)
      var response = Self.redirect(to: "/storage?done=\(isDone ? "purged" : "purging")")
      if let clear = HTTPField.Name("clear-site-data") { response.headers[clear] = "\"cache\"" }
      return response
    }
  }

  /// The inbox and the conversation of an address, each if it names one.
  private static func scope(_ request: Request) throws -> (InboxID?, ConversationID?) {
    let (inbox, name) = (value("inbox", in: request) ?? "", value("name", in: request) ?? "")
    return (inbox.isEmpty ? nil : try InboxID(inbox), name.isEmpty ? nil : try ConversationID(name))
  }

  /// Leaves the order on the disk. The daemon carries it out, now or when it starts.
  private func orderPurge(of conversation: ConversationID) throws {
    let reserve = Reserve(spool)
    try reserve.give()
    defer { reserve.take() }
    try PurgeOrders(spool).add([conversation])
  }

  /// Whether the order is carried out within a few seconds. Without a daemon it is not, and nobody waits.
  private func isPurged(_ conversation: ConversationID) async throws -> Bool {
    guard (try? await order(.listening)) != nil else { return false }
    for _ in 0..<100 {
      let waits = try await pool.run { try PurgeOrders(spool).read().conversations.contains(conversation) }
      if !waits { return true }
      try await Task.sleep(for: .milliseconds(50))
    }
    return false
  }
}
