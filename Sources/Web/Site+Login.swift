import HTTPTypes
import Hummingbird
import Messages
import WebAccess

extension Site {
  func addLogin(to routes: Routes) {
    routes.router.get("login/:code") { _, context in
      let code = try context.parameters.require("code")
      guard let grant = try await pool.run({ try access.link(code, at: .now()) }) else { throw spent }
      return templates.page("login", title: "photospool", grant.values(code: code))
    }
    routes.router.post("login/:code") { _, context in
      let code = try context.parameters.require("code")
      let user = user(of: context)
      let begun = try await pool.run { try access.beginSession(by: code, user: user, at: .now()) }
      guard let (secret, end) = begun else { throw spent }
      log.notice("session began", metadata: ["user": "\(user.map(String.init) ?? "unknown")"])
      var response = Self.redirect(to: "/")
      response.headers[.setCookie] = cookie(secret, seconds: Int(end.seconds(since: .now())))
      return response
    }
    routes.router.post("link") { _, context in
      guard let user = user(of: context) else {
        throw WebProblem(.forbidden, "The kernel does not tell who asks.", command: "photospool web link")
      }
      guard let name = try await pool.run({ try access.memberName(user) }) else {
        throw WebProblem(.forbidden, "Only members of the spool's group get a link here.")
      }
      let grant = Grant(
        rights: [.send], inbox: nil, name: name, expires: Timestamp.now().advanced(seconds: Duration.days(30).seconds),
        user: user)
      let code = try await pool.run { try access.makeLink(grant) }
      log.notice("web", metadata: ["act": "link", "session": "\(name)", "user": "\(user)"])
      return Response("\(address.origin)/login/\(code)".utf8, type: "text/plain; charset=utf-8")
    }
    routes.router.post("unlock") { request, context in
      let secret = secret(request)
      let user = user(of: context)
      guard let session = try await pool.run({ try access.session(secret, user: user, at: .now()) }) else {
        throw WebProblem(.unauthorized, "This session has ended.", command: "photospool web link")
      }
      let password = try await Self.fields(of: request)["password"] ?? ""
      guard attempts.begin(session.id) else {
        throw Self.locked("These were too many attempts. Wait a minute.", .tooManyRequests)
      }
      let isRight = try await pool.run {
        try access.unlock(secret, session, password: password, at: .now())
      }
      guard isRight else {
        logAct("unlock", session, ["error": "wrong password"], level: .warning)
        // A wrong guess costs time.
        try await Task.sleep(for: .seconds(1))
        throw Self.locked("The password is wrong.")
      }
      return Self.redirect(to: "/")
    }
    // The page tells that somebody does something on it.
    routes.on(.post, "use") { _, _, _ in Response(status: .noContent) }
    routes.on(.post, "logout") { request, _, _ in
      let secret = secret(request)
      try await pool.run { try access.endSession(secret) }
      var response = templates.page(
        "login", title: "photospool",
        ["hasCode": false, "sentence": "You are logged out. For a new link, run this command on this computer."])
      response.headers[.setCookie] = cookie("", seconds: 0)
      if let clear = HTTPField.Name("clear-site-data") { response.headers[clear] = "\"cache\"" }
      return response
    }
    routes.router.get("static/:version/:name") { request, _ in
      guard let (bytes, type) = templates.files[request.uri.path] else {
        throw WebProblem(.notFound, "There is no such file.")
      }
      return Response(
        status: .ok, headers: [.contentType: type, .cacheControl: "public, max-age=31536000, immutable"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
    routes.router.get("healthz") { _, _ in Response(status: .noContent) }
  }

  private func cookie(_ value: String, seconds: Int) -> String {
    "\(cookie)=\(value); Path=/; HttpOnly; SameSite=Strict\(address.isSecure ? "; Secure" : ""); Max-Age=\(seconds)"
  }

  private var spent: WebProblem {
    WebProblem(
      .gone, "This link was used already, or is older than 10 minutes. Ask for a new one.",
      command: "photospool web link")
  }
}

extension Grant {
  /// The values of the page that spends a link.
  fileprivate func values(code: String) -> Values {
    let whose = inbox.map { " as \(shown($0))" } ?? ""
    let sentences = [
      (WebRight.see, "see \(inbox == nil ? "all conversations" : "the conversations of \(shown(inbox ?? ""))")"),
      (.send, "send\(whose)"),
      (
        .operate,
        """
        hold, release and delete conversations, retry, cancel or delete what others sent, flush the queue, clear the cache, \
        and end sessions
        """
      ),
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
