import HTTPTypes
import Hummingbird
import Ledgers
import Messages
import Spooling
import WebAccess

extension Site {
  func addSending(to routes: Routes) {
    routes.on(.post, "conversation", may: .send) { request, _, session in
      let conversation = try Self.conversation(request)
      let form = try await ReceivedForm(request, into: spool, pool: pool)
      return try await desk.pool.run { try send(form, to: conversation, session, asPart: request.isByScript) }
    }
    routes.on(.post, "request/:name/:act") { request, context, session in
      let (name, act) = (try context.parameters.require("name"), try context.parameters.require("act"))
      let conversation = try await pool.run { try ledger().conversation(ofRequest: name, for: session) }
      let back = try await Self.fields(of: request)["back"]
      var sentence = ""
      switch act {
      case "cancel": sentence = try await cancel(name)
      case "retry": try await pool.run { try retry(name) }
      case "delete": try await pool.run { try delete(name) }
      default: throw WebProblem(.notFound, "There is no such page.")
      }
      logAct(act, session, ["request": "\(name)"])
      if request.isByScript {
        return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: sentence)))
      }
      switch back {
      case "request" where session.may(.see): return Self.redirect(to: "/request/\(inAddress(name))")
      case "profile": return Self.redirect(to: "/profile")
      case "queue" where session.may(.see): return Self.redirect(to: "/queue")
      default: return Self.redirect(to: conversation.map { "/conversation?name=\(inAddress($0))" } ?? "/")
      }
    }
  }

  /// Drops what a person composed, as `photospool send` does. It is on disk before the browser gets an answer.
  private func send(_ form: ReceivedForm, to conversation: ConversationID, _ session: WebSession, asPart: Bool)
    throws -> Response
  {
    var composer = PageSource.Composer(id: form.fields["id"] ?? Self.newKey(session), text: form.fields["text"] ?? "")
    func again(_ problem: String) throws -> Response {
      composer.problem = problem
      composer.draft = try? desk.find(to: conversation, for: session)
      return try page(
        of: conversation, source(session), asPart: asPart, composer: composer, status: .unprocessableContent)
    }
    guard let key = IdempotencyKey(composer.id) else { throw WebProblem.damagedForm }
    do { _ = try RequestReader.conversation(conversation.text) } catch {
      return try again("\(error). Nothing was sent.")
    }
    if let problem = form.problem { return try again("\(problem) Nothing was sent.") }
    if form.photos.isEmpty && form.text == nil && form.draft == nil {
      return try again("Write something or add a photo.")
    }
    if let text = form.text, text.utf8.count > RequestLimits.textBytes {
      return try again("The text is longer than \(sizeInWords(RequestLimits.textBytes)). Make it shorter.")
    }
    do {
      let name = try drop(form, to: conversation, key, session)
      logAct("send", session, ["request": "\(name)"])
    } catch let error as SpoolError {
      throw WebProblem(.noRoom, "\(error).")
    } catch let refusal as Refusal {
      return try again("\(refusal).")
    } catch let problem as WebProblem {
      return try again(problem.sentence)
    }
    if asPart {
      let next = PageSource.Composer(id: Self.newKey(session))
      return try page(of: conversation, source(session), asPart: true, composer: next)
    }
    return Self.redirect(to: "/conversation?name=\(inAddress(conversation.text))")
  }

  /// Drops what a form has, together with the draft that it names.
  private func drop(
    _ form: ReceivedForm, to conversation: ConversationID, _ key: IdempotencyKey, _ session: WebSession
  ) throws -> RequestName {
    guard let name = form.draft else {
      return try Submission(to: conversation, from: session.inbox, key: key, text: form.text, photos: form.photos)
        .drop(into: spool.path)
    }
    guard let draft = try desk.draft(name, for: session), draft.conversation == conversation else {
      if let name = RequestName(name), try wasSent(name, key) { return name }
      throw Self.gone
    }
    guard try draft.photos().count + form.photos.count <= RequestLimits.photos else { throw Self.tooMany }
    for photo in form.photos { try draft.add(photo, in: spool) }
    try draft.setText(form.text)
    if form.text == nil, try draft.photos().isEmpty {
      try desk.tidy(draft)
      throw WebProblem(.unprocessableContent, "Write something or add a photo.")
    }
    try draft.send(key: key)
    return draft.name
  }

  /// Whether a request of this name and key was dropped: its answer was lost, and the browser sends the form again.
  private func wasSent(_ name: RequestName, _ key: IdempotencyKey) throws -> Bool {
    for place in [spool.new, spool.cur, spool.failed] {
      if let directory = try? place.directory(name.text), (try? directory.field("id")) == key.text { return true }
    }
    return try (try? ledger())?.story(of: name.text)?.id == key.text
  }

  /// Cancels by the daemon, or leaves an order for it in `cancel/`.
  ///
  /// - Returns: the daemon's sentence, for example about what was too late.
  private func cancel(_ name: String) async throws -> String {
    do { return try await order(.cancel([name])) } catch let problem as WebProblem {
      guard problem.status == .serviceUnavailable, problem.command != nil else { throw problem }
      try await pool.run {
        try spool.cancel.write(Array("\(name)\n".utf8), as: "web-\(name)")
        try spool.cancel.sync()
      }
      return "cancelled as soon as the daemon runs"
    }
  }

  private func retry(_ name: String) throws {
    guard RequestName(name) != nil, try spool.failed.entry(name) != nil else { throw gone }
    guard try spool.failed.move(name, to: spool.new, as: name) else {
      throw WebProblem(.conflict, "Another request of this name is just being sent. Try again in a moment.")
    }
    try spool.new.sync()
    try spool.failed.sync()
  }

  /// Deletes a failed request as it was dropped. It leaves `failed/` in one rename, so that a part of it is never sent.
  /// The ledger keeps its row until the janitor forgets it, and the janitor removes what a kill left in `tmp/`.
  private func delete(_ name: String) throws {
    let trash = Spool.unnamed()
    guard RequestName(name) != nil, try spool.failed.entry(name) != nil,
      try spool.failed.move(name, to: spool.tmp, as: trash)
    else { throw gone }
    try spool.failed.sync()
    try spool.tmp.sync()
    try spool.tmp.removeTree(trash)
  }

  private var gone: WebProblem { WebProblem(.notFound, "This request is not among the failed ones any more.") }
}

extension LedgerView {
  /// The conversation of a request that a session may change; nil if the request could not be read.
  fileprivate func conversation(ofRequest name: String, for session: WebSession) throws -> String? {
    guard let story = try story(of: name), session.inbox == nil || story.inbox == session.inbox?.text
    else { throw WebProblem(.notFound, "There is no such request here.") }
    guard session.mayChange(requestWith: story.id) else {
      throw WebProblem(.forbidden, "This session may change only what it sent itself.")
    }
    return story.conversation
  }
}
