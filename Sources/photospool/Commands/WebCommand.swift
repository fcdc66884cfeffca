import ArgumentParser
import Composition
import Foundation
import Messages
import Spooling
import WebAccess

struct WebCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "web", abstract: "Show conversations and photos as a web page on this computer, and send from it.",
    subcommands: [WebServeCommand.self, WebLinkCommand.self], defaultSubcommand: WebServeCommand.self)
}

struct WebServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve the page until it is interrupted, and print a link that opens it once.",
    discussion: "The page is on a port of 127.0.0.1. `photospool web` does the same.")

  @OptionGroup var options: SpoolOptions

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
    do {
      let socket = try ListeningSocket(port: port)
      let access = try AccessStore(spool)
      let address = try access.address(port: socket.port)
      try access.setAddress(address)
      print(try access.newLink(grant, to: address))
      fflush(nil)
      try socket.become(program, environment: environment)
    } catch let error as WebError { throw Failure(.unavailable, "\(error)") }
  }
}

struct WebLinkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Print a link that opens the page once, within 10 minutes.",
    discussion: "The page is the one that was started last on this spool. --port names another one.")

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long,
    help: ArgumentHelp("The page's port, if it was never started; that of the service is 7377.", valueName: "number"))
  var port: UInt16?

  @OptionGroup var link: LinkOptions

  func run() throws {
    let grant = try link.grant()
    let access = try AccessStore(try options.openSpool())
    guard let address = try port.map(access.address(port:)) ?? access.address() else {
      throw Failure(
        .unavailable, "no page was started on this spool yet; run `photospool web`, or add --port 7377 for the service")
    }
    print(try access.newLink(grant, to: address))
  }
}

/// The options of a link.
struct LinkOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "What the session may do, with commas between them. (default: see,send,operate; for one inbox see,send)",
      valueName: "rights"))
  var may: String?

  @Option(name: .long, help: ArgumentHelp("Only the conversations of this inbox.", valueName: "inbox"))
  var inbox: String?

  @Option(
    name: .long, help: ArgumentHelp("The name of the session in the log, such as 'Anna, phone'.", valueName: "name"))
  var name: String = "browser"

  @Option(name: .long, help: ArgumentHelp("How long the session lasts at most, in days.", valueName: "days"))
  var days = 30

  func grant() throws -> Grant {
    let words = may ?? (inbox == nil ? "see,send,operate" : "see,send")
    let rights = try words.split(separator: ",", omittingEmptySubsequences: false).map { word in
      let word = word.trimmingCharacters(in: .whitespaces)
      guard let right = WebRight(rawValue: word) else {
        throw Failure(.usage, "--may takes see, send and operate; '\(escaped(word))' is no right")
      }
      return right
    }
    if inbox != nil, rights.contains(.operate) {
      throw Failure(.usage, "operate concerns all inboxes; leave it out with --inbox")
    }
    guard (1...365).contains(days) else { throw Failure(.usage, "--days takes 1 to 365") }
    if let inbox { _ = try InboxID(inbox) }
    return Grant(
      rights: Set(rights), inbox: inbox, name: String(name.prefix(100)),
      expires: Timestamp.now().advanced(seconds: Duration.days(days).seconds))
  }
}

extension AccessStore {
  /// The address of a new link.
  fileprivate func newLink(_ grant: Grant, to address: String) throws -> String {
    "http://\(address)/login/\(try makeLink(grant))"
  }
}
