import ArgumentParser
import Composition
import DurableFiles
import Foundation
import HTTP
import Messages
import Spooling
import WebAccess

struct WebLinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Print a link that opens the page once, within 10 minutes.",
    discussion: """
      The page is the one that was started last on this spool. --port names another one on 127.0.0.1. A member of the \
      spool's group who is neither root nor its user gets a link that may send, from the page itself.
      """)

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long,
    help: ArgumentHelp("The page's port, if it was never started; that of the service is 7377.", valueName: "number"))
  var port: UInt16?

  @OptionGroup var link: LinkOptions

  func run() async throws {
    let access: AccessStore
    do { access = try AccessStore(options.openSpool()) } catch let error as FileError where error.isForbidden {
      guard link.isPlain else {
        throw Failure(
          .noPermission,
          "only root and the spool's user choose what a link permits; leave out --may, --inbox, --name and --days")
      }
      return try link.show(try await linkOfPage())
    }
    let grant = try link.grant()
    let named = try port.map { try access.origin(at: .loopback(port: $0), options.settings().web) }
    guard let origin = try named ?? access.origin() else {
      throw Failure(
        .unavailable, "no page was started on this spool yet; run `photospool web`, or add --port 7377 for the service")
    }
    try link.show(try access.newLink(grant, to: origin))
  }

  /// A link that the page makes for the user who asks. The kernel tells the page who that is.
  private func linkOfPage() async throws -> String {
    let settings = try options.settings()
    let client = HTTPClient(settings.http.client)
    let answer: HTTPResponse
    if settings.web.certificate != nil, let name = settings.web.names.first {
      // With TLS, the page is reached by a name of its certificate, as a browser reaches it.
      let site = PageAddress.origin(name, isSecure: true)
      answer = try await ask(.post, site, client, headers: [HTTPHeader("Origin", site)])
    } else {
      let port = port ?? AccessStore.servicePort
      let site = "http://127.0.0.1:\(port)"
      // The page answers under its name alone, and tells it to everybody.
      let refusal = try await ask(.get, site, client, headers: [])
      guard let name = refusal.header("link").flatMap(Self.name) else {
        throw Failure(.unavailable, "port \(port) of 127.0.0.1 is not the page; name its port with --port")
      }
      answer = try await ask(
        .post, site, client, headers: [HTTPHeader("Host", name), HTTPHeader("Origin", "http://\(name)")])
    }
    guard answer.isSuccess else {
      throw Failure(
        .noPermission, "the page makes links for members of the spool's group alone; ask the spool's user for one")
    }
    return escaped(String(decoding: answer.body, as: UTF8.self))
  }

  private func ask(
    _ method: HTTPRequest.Method, _ site: String, _ client: HTTPClient, headers: [HTTPHeader]
  ) async throws -> HTTPResponse {
    var request = HTTPRequest(method, "\(site)/link", headers: headers)
    request.reach = .thisComputer
    request.limits.total = .seconds(30)
    do { return try await client.send(request) } catch {
      throw Failure(
        .unavailable,
        "the page does not answer at \(site) (\(error)); name its port with --port, or ask the spool's user for a link")
    }
  }

  /// The name in `<http://NAME/>; rel="canonical"`.
  static func name(in link: String) -> String? {
    link.wholeMatch(of: /<http:\/\/([a-z0-9.:-]+)\/>; rel="canonical"/).map { String($0.1) }
  }
}
