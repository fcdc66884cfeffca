import Foundation
import HTTPTypes
import Hummingbird

extension HTTPResponse.Status {
  /// RFC 4918 §11.5.
  static let noRoom = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

/// Why a request is not answered as asked: a status and one sentence for the person.
struct WebProblem: Error {
  let status: HTTPResponse.Status
  let sentence: String
  /// A command that mends it; nil if there is none.
  var command: String?
  /// Where to go on.
  var back: (address: String, word: String)?
  /// Whether the page asks for the session's password.
  var isLocked = false

  static let damagedForm = WebProblem(.badRequest, "The form is damaged. Go back.")
  static let noPhoto = WebProblem(.notFound, "There is no such photo here.")

  init(_ status: HTTPResponse.Status, _ sentence: String, command: String? = nil) {
    self.status = status
    self.sentence = sentence
    self.command = command
  }
}

extension WebProblem {
  /// The problem for a script (RFC 9457).
  var response: Response {
    struct Problem: Codable {
      let title: String
      let status: Int
      let detail: String
      let command: String?
    }
    let body = Problem(title: status.reasonPhrase, status: status.code, detail: sentence, command: command)
    return Response((try? JSONEncoder().encode(body)) ?? Data(), type: "application/problem+json", status: status)
  }
}

extension Response {
  init(_ bytes: some Sequence<UInt8>, type: String, status: HTTPResponse.Status = .ok) {
    self.init(
      status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}

extension Request {
  /// The type of a part of a page.
  static let fragment = "text/vnd.photospool.fragment"

  /// Whether the page's script asks, and not a person.
  var isByScript: Bool {
    method == .put || method == .delete || headers[.accept]?.contains(Self.fragment) == true
  }

  /// Whether a person caused this: a change, or the opening of a page. An open page asks by itself for parts, pictures and
  /// events.
  var isByPerson: Bool {
    guard method == .get || method == .head else { return true }
    return !isByScript && headers[.accept]?.contains("text/event-stream") != true
  }
}
