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
  let port: UInt16
  /// Name and port.
  let address: String
  let log: Logger
  let pool = BlockingPool(label: "web", threads: 4)
  let desk: DraftDesk
  let uploads = UploadLimits()
  private let gate: Gate
  private let cookie: String

  /// - Parameter socket: the port is part of the page's address.
  init(_ spool: Spool, settings: Settings, access: AccessStore, socket: ListeningSocket, log: Logger) throws {
    self.spool = spool
    self.settings = settings
    self.access = access
    self.log = log
    port = socket.port
    desk = DraftDesk(spool: spool, defaultInbox: settings.inbox)
    templates = try Templates()
    address = try access.address(port: socket.port)
    gate = Gate(names: [address])
    cookie = "photospool-\(socket.port)"
  }

  /// The function that answers requests.
  func responder() -> @Sendable (Request, WebContext) async -> Response {
    let router = Router(context: WebContext.self)
    addLogin(to: router)
    addReading(to: router)
    addPhotos(to: router)
    addSending(to: router)
    addDrafts(to: router)
    addConversations(to: router)
    let responder = router.buildResponder()
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
      Gate.secure(&response)
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

  /// The session of a request, which has the right.
  ///
  /// - Throws: `WebProblem` without one.
  func session(_ request: Request, _ context: WebContext, may right: WebRight? = nil) async throws -> WebSession {
    let secret = request.cookies[cookie]?.value ?? ""
    let user = user(of: context)
    let found = try await pool.run { try access.session(secret, user: user, at: .now()) }
    guard let session = found else {
      throw WebProblem(
        .unauthorized, "You need a link. On this computer, run this command.", command: "photospool web link")
    }
    guard let right, !session.may(right) else { return session }
    throw WebProblem(.forbidden, "This session may not \(right.rawValue).")
  }

  /// The user of this computer at the other end of a connection; nil if the kernel does not tell.
  private func user(of context: WebContext) -> UInt32? {
    guard let client = context.channel.remoteAddress?.port.flatMap(UInt16.init(exactly:)) else { return nil }
    let user = ckernel_loopback_user(client, port)
    return user < 0 ? nil : UInt32(user)
  }

  private func addLogin(to router: Router<WebContext>) {
    router.get("login/:code") { _, context in
      let code = try context.parameters.require("code")
      guard let grant = try await pool.run({ try access.link(code, at: .now()) }) else { throw spent }
      return templates.page("login", title: "photospool", grant.values(code: code))
    }
    router.post("login/:code") { _, context in
      let code = try context.parameters.require("code")
      let user = user(of: context)
      let begun = try await pool.run { try access.beginSession(by: code, user: user, at: .now()) }
      guard let (secret, end) = begun else { throw spent }
      log.notice("session began", metadata: ["user": "\(user.map(String.init) ?? "unknown")"])
      var response = Self.redirect(to: "/")
      response.headers[.setCookie] =
        "\(cookie)=\(secret); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(Int(end.seconds(since: .now())))"
      return response
    }
    router.post("logout") { request, context in
      _ = try await session(request, context)
      let secret = request.cookies[cookie]?.value ?? ""
      try await pool.run { try access.endSession(secret) }
      var response = templates.page(
        "login", title: "photospool",
        ["hasCode": false, "sentence": "You are logged out. For a new link, run this command on this computer."])
      response.headers[.setCookie] = "\(cookie)=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
      if let clear = HTTPField.Name("clear-site-data") { response.headers[clear] = "\"cache\"" }
      return response
    }
    router.get("static/:version/:name") { request, _ in
      guard let (bytes, type) = templates.files[request.uri.path] else {
        throw WebProblem(.notFound, "There is no such file.")
      }
      return Response(
        status: .ok, headers: [.contentType: type, .cacheControl: "public, max-age=31536000, immutable"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
    router.get("healthz") { _, _ in Response(status: .noContent) }
  }

  private var spent: WebProblem {
    WebProblem(
      .gone, "This link was used already, or is older than 10 minutes. Ask for a new one.",
      command: "photospool web link")
  }

  // MARK: What handlers share

  static func redirect(to address: String) -> Response { Response(status: .seeOther, headers: [.location: address]) }

  func source(_ session: WebSession) throws -> PageSource { try PageSource(spool, settings, session) }

  func ledger() throws -> LedgerView { try LedgerView(in: spool.state) }

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
  func order(_ order: ControlRequest) async throws -> String {
    let reply: ControlReply?
    do { reply = try await pool.run { try ControlClient.ask(order, in: spool.state, patience: 20) } } catch let error
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

extension Grant {
  /// The values of the page that spends a link.
  fileprivate func values(code: String) -> Values {
    let whose = inbox.map { " as \(shown($0))" } ?? ""
    let sentences = [
      (WebRight.see, "see \(inbox == nil ? "all conversations" : "the conversations of \(shown(inbox ?? ""))")"),
      (.send, "send\(whose)"), (.operate, "hold and release, and retry, cancel or delete what others sent"),
    ]
    return [
      "hasCode": true, "code": inAddress(code),
      "rights": sentences.filter { rights.contains($0.0) }.map { ["sentence": $0.1] as Values },
      "validity": """
      It works once. The session ends after 7 days without use, and after \
      \(max(1, Int((expires.seconds(since: .now()) / 86_400).rounded()))) days at most.
      """,
    ]
  }
}
