import Blocking
import CKernel
import Control
import DurableFiles
import Foundation
import HTTPTypes
import Hummingbird
import Ledgers
import Logging
import Messages
import Settings
import Spooling
import WebAccess

/// The page: its addresses, and who may use them.
struct Site: Sendable {
  let spool: Spool
  let settings: Settings
  let access: AccessStore
  let templates: Templates
  /// Where the page listens.
  let place: ListeningSocket.Place
  let address: PageAddress
  let log: Logger
  /// The last round of checks.
  let board = CheckBoard()
  let shelf: LedgerShelf
  let viewed = ViewedPhotos()
  let attempts = UnlockAttempts()
  let pool = BlockingPool(label: "web", threads: 4)
  let desk: DraftDesk
  let uploads = UploadLimits()
  let live: LiveWatch
  /// Tells this process from earlier ones.
  let epoch = String(UInt32.random(in: 0 ... .max), radix: 36)
  private let gate: Gate
  /// The name of the session's cookie.
  let cookie: String

  init(
    _ spool: Spool, settings: Settings, access: AccessStore, place: ListeningSocket.Place, log: Logger
  ) throws {
    self.spool = spool
    self.settings = settings
    self.access = access
    self.log = log
    self.place = place
    shelf = LedgerShelf(in: spool.state)
    live = LiveWatch(spool)
    desk = DraftDesk(spool: spool, defaultInbox: settings.inbox)
    templates = try Templates()
    address = try access.address(
      place, names: settings.web.names, hasCertificate: settings.web.certificate != nil)
    gate = Gate(address)
    let port = place.port.map { "-\($0)" } ?? ""
    // Browsers take a name that begins so from TLS alone, and send it to this host alone.
    cookie = (address.isSecure ? "__Host-" : "") + "photospool\(port)"
  }

  /// The function that answers requests.
  func responder() -> @Sendable (Request, WebContext) async -> Response {
    let routes = Routes(site: self)
    addLogin(to: routes)
    addSessions(to: routes)
    addShare(to: routes)
    addReading(to: routes)
    addPhotos(to: routes)
    addSending(to: routes)
    addDrafts(to: routes)
    addLive(to: routes)
    addConversations(to: routes)
    addOperating(to: routes)
    let responder = routes.router.buildResponder()
    return { request, context in
      var response: Response
      do {
        try gate.check(request.head)
        response = try await responder.respond(to: request, context: context)
        if response.status == .notFound, response.headers[.contentType] == nil {
          throw WebProblem(.notFound, "There is no such page.")
        }
      } catch {
        let problem = problem(for: error, request)
        response = request.isByScript ? problem.response : templates.page(problem)
      }
      if response.status == .misdirectedRequest, let link = HTTPField.Name("link") {
        response.headers[link] = "<\(address.origin)/>; rel=\"canonical\""
      }
      gate.secure(&response)
      if ![.get, .head].contains(request.method), response.status.code < 400 {
        // Its pages show at once what it changed.
        live.hurry()
      }
      return response
    }
  }

  private func problem(for error: any Error, _ request: Request) -> WebProblem {
    switch error {
    case var problem as WebProblem:
      if [.notFound, .conflict, .forbidden, .serviceUnavailable].contains(problem.status), problem.back == nil {
        problem.back = ("/", "All conversations")
      }
      return problem
    case let error as LedgerError: return WebProblem(.serviceUnavailable, "\(error).")
    case let error as IdentifierError: return WebProblem(.badRequest, "\(error).")
    case let error as Refusal: return WebProblem(.unprocessableContent, "\(error).")
    case let error as FileError where error.isForbidden: return WebProblem(.internalServerError, "\(error).")
    default:
      log.error(
        "cannot answer",
        metadata: ["page": "\(request.uri.path.split(separator: "/").first ?? "")", "error": "\(error)"])
      return WebProblem(.internalServerError, "\(error).")
    }
  }

  // MARK: Sessions

  static func locked(_ sentence: String, _ status: HTTPResponse.Status = .unauthorized) -> WebProblem {
    var problem = WebProblem(status, sentence)
    problem.isLocked = true
    return problem
  }

  /// The session of a request, which has the right.
  ///
  /// - Throws: `WebProblem` without one.
  func session(_ request: Request, _ context: WebContext, may right: WebRight? = nil) async throws -> WebSession {
    let (secret, user, isUse) = (secret(request), user(of: context), request.isByPerson)
    return try await pool.run { try self.session(secret, user, isUse: isUse, may: right) }
  }

  /// The secret of a request's session; empty without one.
  func secret(_ request: Request) -> String { request.cookies[cookie]?.value ?? "" }

  /// The same for who has asked already; it blocks.
  func session(_ secret: String, _ user: UInt32?, isUse: Bool, may right: WebRight?) throws -> WebSession {
    guard let session = try access.session(secret, user: user, at: .now(), isUse: isUse) else {
      throw WebProblem(
        .unauthorized, "You need a link. On this computer, run this command.", command: "photospool web link")
    }
    if session.isLocked { throw Self.locked("This session was not used for 12 hours.") }
    guard let right, !session.may(right) else { return session }
    throw WebProblem(.forbidden, "This session may not \(right.rawValue).")
  }

  /// The user of this computer at the other end of a connection; nil if it comes from elsewhere, or the kernel does not
  /// tell.
  func user(of context: WebContext) -> UInt32? {
    guard let server = place.port, let peer = context.channel.remoteAddress, peer.ipAddress == "127.0.0.1",
      context.channel.localAddress?.ipAddress == "127.0.0.1", let client = peer.port.flatMap(UInt16.init(exactly:))
    else { return nil }
    return context.peer.known {
      let user = ckernel_loopback_user(client, server)
      return user < 0 ? nil : UInt32(user)
    }
  }

  // MARK: What handlers share

  /// Logs what a session did.
  func logAct(
    _ act: String, _ session: WebSession, _ facts: Logger.Metadata = [:], level: Logger.Level = .info
  ) {
    let who: Logger.Metadata = ["act": "\(act)", "session": "\(session.grant.name)"]
    log.log(level: level, "web", metadata: who.merging(facts) { $1 })
  }

  static func redirect(to address: String) -> Response { Response(status: .seeOther, headers: [.location: address]) }

  func source(_ session: WebSession) throws -> PageSource {
    // A daemon that does not answer is as good as none for a page.
    let progress = (try? ControlClient.ask(.progress, in: spool.state))?.progress
    return try PageSource(spool, settings, session, shelf, progress: progress)
  }

  func ledger() throws -> LedgerView { try shelf.view() }

  /// The conversation in an address.
  static func conversation(_ request: Request) throws -> ConversationID {
    try ConversationID(value("name", in: request) ?? "")
  }

  /// A value of an address's query, in which forms write a blank as `+`.
  static func value(_ name: String, in request: Request) -> String? {
    formFields(request.uri.query ?? "")[name]
  }

  /// Has the daemon do something.
  ///
  /// - Throws: `WebProblem` if no daemon runs, or it could not be done.
  func order(_ order: ControlRequest, patience: Int = 20) async throws -> String {
    let reply: ControlReply?
    do { reply = try await pool.run { try ControlClient.ask(order, in: spool.state, patience: patience) } } catch let
      error
      as ControlError
    {
      throw WebProblem(.serviceUnavailable, "\(error).")
    }
    guard let reply else {
      throw WebProblem(
        .serviceUnavailable, "The daemon does not run, so this cannot be done now.", command: "photospool run")
    }
    if let outcome = reply.outcomes.first(where: { !$0.isDone }) {
      throw WebProblem(.conflict, "\(shown(outcome.sentence)).")
    }
    return reply.outcomes.map(\.sentence).joined(separator: " ")
  }
}
