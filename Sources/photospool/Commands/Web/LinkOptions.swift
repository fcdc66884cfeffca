import ArgumentParser
import Composition
import Foundation
import Messages
import Settings
import WebAccess

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
    name: .long,
    help: ArgumentHelp(
      "The name of the session in the log, such as 'Anna, phone'. (default: browser)", valueName: "name"))
  var name: String?

  @Option(
    name: .long, help: ArgumentHelp("How long the session lasts at most, in days. (default: 30)", valueName: "days"))
  var days: Int?

  @Flag(name: .long, help: "Print the link as a QR code, too, for the camera of a phone.")
  var qr = false

  /// Whether the link is as it comes.
  var isPlain: Bool { may == nil && inbox == nil && name == nil && days == nil }

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
    let days = days ?? 30
    guard (1...365).contains(days) else { throw Failure(.usage, "--days takes 1 to 365") }
    if let inbox { _ = try InboxID(inbox) }
    return Grant(
      rights: Set(rights), inbox: inbox, name: String((name ?? "browser").prefix(100)),
      expires: Timestamp.now().advanced(seconds: Duration.days(days).seconds))
  }

  func show(_ address: String) throws {
    print(address)
    if qr { print(try QRCode(address).text(hasColour: Terminal.hasColour)) }
  }
}

extension AccessStore {
  /// Where browsers find the page at a place.
  func origin(at place: ListeningSocket.Place, _ web: Settings.Web) throws -> String {
    do {
      return try address(place, names: web.names, hasCertificate: web.certificate != nil).origin
    } catch let error as WebError { throw Failure(.configuration, "\(error)") }
  }

  func newLink(_ grant: Grant, to origin: String) throws -> String { "\(origin)/login/\(try makeLink(grant))" }
}
