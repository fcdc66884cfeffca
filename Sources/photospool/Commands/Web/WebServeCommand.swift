import ArgumentParser
import Composition
import Foundation
import Settings
import WebAccess

struct WebServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve the page until it is interrupted, and print a link that opens it once.",
    discussion: """
      The page is on a port of 127.0.0.1. Another address needs web.certificate, web.key and web.names. \
      `photospool web` does the same.
      """)

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long, help: ArgumentHelp("The IP address to listen on; 0.0.0.0 is all of IPv4.", valueName: "address"))
  var address: String = "127.0.0.1"

  @Option(name: .long, help: ArgumentHelp("The port; 0 is a free one.", valueName: "number"))
  var port: UInt16 = 0

  @OptionGroup var link: LinkOptions

  func run() throws {
    let (settings, spool) = try options.configured()
    let grant = try link.grant()
    let program = Programs.path(of: "photospool-web")
    guard access(program, X_OK) == 0 else {
      throw Failure(.unavailable, "\(program) is missing; install the package photospool-web")
    }
    var environment = ProcessInfo.processInfo.environment
    environment["PHOTOSPOOL_SPOOL"] = settings.spool.directory
    if let config = options.config { environment["PHOTOSPOOL_CONFIG"] = config }
    let access = try AccessStore(spool)
    do {
      let socket = try ListeningSocket(address: address, port: port)
      let origin = try access.origin(at: socket.place, settings.web)
      try access.setOrigin(origin)
      try link.show(try access.newLink(grant, to: origin))
      fflush(nil)
      try socket.become(program, environment: environment)
    } catch let error as WebError { throw Failure(.unavailable, "\(error)") }
  }
}
