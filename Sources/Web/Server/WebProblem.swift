import HTTPTypes

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

  init(_ status: HTTPResponse.Status, _ sentence: String, command: String? = nil) {
    self.status = status
    self.sentence = sentence
    self.command = command
  }
}
