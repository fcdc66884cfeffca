import HTTP

/// An answer of a store, with what it says of itself.
struct StoreAnswer {
  let response: HTTPResponse
  /// The word of an S3 error, such as `NoSuchBucket`.
  let code: String?
  /// A page for people, such as a proxy's or a hotel's; no store says that.
  let isPage: Bool

  var status: Int { response.status }

  /// The other side has done what was asked.
  var isSuccess: Bool { response.isSuccess && code == nil && !isPage }

  /// Bytes of a success's body that tell whether it is one.
  static let telling = 1024
  /// Bytes of a body that are looked at.
  private static let mostBytes = 1 << 16

  init(_ response: HTTPResponse) {
    self.response = response
    let text = String(decoding: response.body.prefix(Self.mostBytes), as: UTF8.self)
    let start = text.drop(while: \.isWhitespace).prefix(64).lowercased()
    isPage = start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
    code = isPage ? nil : Self.code(in: text)
  }

  /// A word and nothing else goes into our sentences: what the other side says at length may hold keys.
  private static func code(in text: String) -> String? {
    guard text.contains("<Error"), let start = text.firstRange(of: "<Code>")?.upperBound,
      let end = text[start...].firstRange(of: "</Code>")?.lowerBound
    else { return nil }
    let code = text[start..<end]
    let isWord = code.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    return !code.isEmpty && code.utf8.count <= 64 && isWord ? String(code) : nil
  }

  /// Whether the body has that word somewhere, in whatever case.
  func says(_ word: String) -> Bool {
    String(decoding: response.body.prefix(Self.mostBytes), as: UTF8.self).lowercased().contains(word)
  }
}
