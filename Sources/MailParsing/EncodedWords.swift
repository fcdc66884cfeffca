/// Texts of header fields, such as `=?utf-8?B?…?=`.
struct EncodedWords {
  let charsets: Charsets

  /// The text of a field on one line, at most 1,000 bytes.
  ///
  /// - Throws: `MailRefusal` if it has too many encoded words.
  func text(_ bytes: [UInt8]) throws(MailRefusal) -> String {
    let bytes = trimmed(bytes[...])
    var (text, plain) = ("", [UInt8]())
    // Bytes of adjacent words in one charset, because a character may be split between them.
    var pending: (charset: String, bytes: [UInt8])?
    var (index, words) = (0, 0)
    func flush(_ text: inout String) {
      if let (charset, bytes) = pending { text += charsets.text(bytes, in: charset) }
      pending = nil
    }
    while index < bytes.count {
      guard let word = Self.word(in: bytes, at: index) else {
        plain.append(bytes[index])
        index += 1
        continue
      }
      words += 1
      if words > MailLimits.pieces { throw .tooMuch("encoded words in a field", words, limit: MailLimits.pieces) }
      // White space between two words is not theirs.
      if pending == nil || !plain.allSatisfy({ $0 <= 32 }) {
        flush(&text)
        text += charsets.text(plain, in: "")
      }
      plain = []
      if let waiting = pending, waiting.charset == word.charset {
        pending = (word.charset, waiting.bytes + word.bytes)
      } else {
        flush(&text)
        pending = (word.charset, word.bytes)
      }
      index = word.end
    }
    flush(&text)
    text += charsets.text(plain, in: "")
    return oneLine(text).prefix(bytes: MailLimits.fieldBytes)
  }

  /// The encoded word at `start`.
  private static func word(in bytes: [UInt8], at start: Int) -> (charset: String, bytes: [UInt8], end: Int)? {
    guard start + 1 < bytes.count, bytes[start] == UInt8(ascii: "="), bytes[start + 1] == UInt8(ascii: "?") else {
      return nil
    }
    let question = UInt8(ascii: "?")
    // A word has at most 75 bytes; senders exceed that.
    let rest = bytes[(start + 2)..<min(bytes.count, start + 2_000)]
    guard let first = rest.firstIndex(of: question), first + 2 < rest.endIndex, rest[first + 2] == question else {
      return nil
    }
    let content = rest[(first + 3)...]
    guard
      let end = content.indices.first(where: {
        $0 + 1 < content.endIndex && content[$0] == question
          && content[$0 + 1] == UInt8(ascii: "=")
      })
    else { return nil }
    let decoded: [UInt8]
    switch rest[first + 1] {
    case UInt8(ascii: "b"), UInt8(ascii: "B"): decoded = TransferEncoding.base64.decode(content[..<end])
    case UInt8(ascii: "q"), UInt8(ascii: "Q"):
      let blanks = content[..<end].map { $0 == UInt8(ascii: "_") ? UInt8(ascii: " ") : $0 }
      // The blank at the end belongs to the text.
      decoded = TransferEncoding.quotedPrintable.decode(blanks[...])
    default: return nil
    }
    let charset = String(decoding: rest[..<first].prefix { $0 != UInt8(ascii: "*") }, as: UTF8.self)
    return (charset, decoded, end + 2)
  }
}
