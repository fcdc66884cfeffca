import HTTP

/// An answer of a store, with its error code.
struct StoreAnswer {
  let response: HTTPResponse
  /// The code of an S3 error, such as `NoSuchBucket`.
  let code: String?
  /// A web page, as from a proxy or a captive portal, and not from a store.
  let isPage: Bool

  var status: Int { response.status }

  var isSuccess: Bool { response.isSuccess && code == nil && !isPage }

  /// The bytes of a success's body that are read, to detect errors in it.
  static let telling = 1024
  /// The bytes of a body that are read.
  private static let mostBytes = 1 << 16

  init(_ response: HTTPResponse) {
    self.response = response
    let text = String(decoding: response.body.prefix(Self.mostBytes), as: UTF8.self)
    let start = text.drop(while: \.isWhitespace).prefix(64).lowercased()
    isPage = start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
    code = isPage ? nil : Self.code(in: text)
  }

  /// The code if it is a single word.
  private static func code(in text: String) -> String? {
    guard text.contains("<Error"), let start = text.firstRange(of: "<Code>")?.upperBound,
      let end = text[start...].firstRange(of: "</Code>")?.lowerBound
    else { return nil }
    return text[start..<end].asWord(with: "abcdefghijklmnopqrstuvwxyz._-")
  }

  /// Whether the body contains the word, in any case.
  func says(_ word: String) -> Bool {
    String(decoding: response.body.prefix(Self.mostBytes), as: UTF8.self).lowercased().contains(word)
  }
}
