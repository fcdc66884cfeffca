import DurableFiles
import HTTPTypes
import Hummingbird
import Ledgers
import Messages
import Spooling
import WebAccess

/// The profile photo of an inbox.
extension PageSource {
  /// - Parameter dropped: the change that was dropped a moment ago, which the ledger may not know yet.
  func profile(of inbox: InboxID, dropped: String?, id: String, problem: String?) throws -> Values {
    let latest = try ledger?.latestRequest(to: .profile(of: inbox))
    // Asked for after its change: a change that is done is shown with its photo.
    let photo = try session.may(.see) ? ledger?.profile(of: inbox)?.message : nil
    let isUnknown = try dropped.map { try ledger?.request($0) == nil && spool.new.entry($0) != nil } ?? false
    let isBusy = isUnknown || latest?.state == .queued
    let isRemoval = latest?.messages.first?.kind == .profileRemoval
    let isFailed = !isBusy && latest?.state == .failed
    let error = latest?.error ?? latest?.messages.compactMap(\.error).last ?? "It failed"
    let isKept = try latest.map { try spool.failed.entry($0.request) != nil } ?? false
    // Its files are moved soon after the ledger knows; no event tells of that.
    let isUnfiled = try isFailed && !isKept && latest.map { try spool.cur.entry($0.request) != nil } ?? false
    let isNew = !isBusy && latest?.state == .sent && latest?.request == dropped
    var inboxes = Set([settings.inbox, inbox])
    if self.inbox == nil { inboxes.formUnion(try ledger?.cacheUse().compactMap(\.inbox) ?? []) }
    return try frame(page: .profile).merging([
      "profileInbox": shown(inbox.text), "inboxQuery": inAddress(inbox.text), "hasPhoto": photo != nil,
      "message": photo?.text ?? "", "isBusy": isBusy, "isRemoval": isRemoval, "isNew": isNew,
      "isFailed": isFailed, "error": sentence(error), "request": latest.map { inAddress($0.request) } ?? "",
      "waiting": sentence(latest?.messages.first?.error ?? ""),
      "isWaiting": isBusy && latest?.messages.first?.error != nil,
      "isUnfiled": isUnfiled, "canRetry": isFailed && isKept && session.mayChange(requestWith: latest?.id),
      "canCancel": isBusy && latest != nil && !isUnknown && session.mayChange(requestWith: latest?.id), "id": id,
      "hasProblem": problem != nil, "problem": shown(problem ?? ""),
      "hasOthers": self.inbox == nil && inboxes.count > 1,
      "others": inboxes.map(\.text).sorted().map { ["value": shown($0), "isChosen": $0 == inbox.text] as Values },
    ]) { $1 }
  }
}

extension Site {
  func addProfile(to routes: Routes) {
    routes.on(.get, "profile") { request, _, session in
      guard session.may(.see) || session.may(.send) else {
        throw WebProblem(.forbidden, "This session may not see.")
      }
      let dropped = Self.value("request", in: request).flatMap(RequestName.init)
      return try await profile(session, inbox(request, session), dropped: dropped?.text)
    }
    routes.on(.post, "profile", may: .send) { request, _, session in
      let inbox = try inbox(request, session)
      let form = try await ReceivedForm(request, into: spool, pool: pool)
      if let problem = form.problem { return try await profile(session, inbox, problem: "\(problem) Nothing changed.") }
      guard let photo = form.photos.first else {
        return try await profile(session, inbox, problem: "Choose a photo first.")
      }
      return try await drop(photo, of: inbox, key: form.fields["id"], session)
    }
    routes.on(.post, "profile/remove", may: .send) { request, _, session in
      let inbox = try inbox(request, session)
      return try await drop(nil, of: inbox, key: try await Self.fields(of: request)["id"], session)
    }
  }

  /// The inbox of a session, else the one in the address, else the configured one.
  private func inbox(_ request: Request, _ session: WebSession) throws -> InboxID {
    if let inbox = session.inbox { return inbox }
    guard let name = Self.value("inbox", in: request), !name.isEmpty else { return settings.inbox }
    return try InboxID(name)
  }

  private func profile(
    _ session: WebSession, _ inbox: InboxID, dropped: String? = nil, problem: String? = nil
  ) async throws -> Response {
    try await pool.run {
      let values = try source(session).profile(
        of: inbox, dropped: dropped, id: Self.newKey(session), problem: problem)
      return templates.page(
        "profile", title: "Profile · photospool", values, status: problem == nil ? .ok : .unprocessableContent)
    }
  }

  /// Drops a change as `photospool profile` does. The present photo stays until it is done.
  private func drop(_ photo: File?, of inbox: InboxID, key: String?, _ session: WebSession) async throws -> Response {
    guard let key = IdempotencyKey(key ?? Self.newKey(session)) else { throw WebProblem.damagedForm }
    let submission = Submission(profilePhoto: photo, of: inbox, key: key)
    do {
      let name = try await pool.run { try submission.drop(into: spool.path) }
      logAct(photo == nil ? "profile-remove" : "profile", session, ["request": "\(name)"])
      return Self.redirect(to: "/profile?inbox=\(inAddress(inbox.text))&request=\(inAddress(name.text))")
    } catch let error as SpoolError {
      throw WebProblem(.noRoom, "\(error).")
    } catch let refusal as Refusal {
      return try await profile(session, inbox, problem: "\(refusal).")
    }
  }
}
