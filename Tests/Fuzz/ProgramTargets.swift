import Children
import Messages

@testable import Networks

extension FuzzTarget {
  static let programs: [FuzzTarget] = [coProcess, programOutput, localLine]

  static let coProcess = FuzzTarget(
    "co-process",
    words: [
      "{", "}", "\"", ":", ",", "\n", "id", "ok", "error", "cause", "sentence", "network", "reserved", "publishedAt",
      "attachment", "url", "contentDigest", "secret", "salt", "nonce", "scheme", "contentLength", "filename",
    ]
  ) { input throws(BrokenProperty) in
    let limit = 4096
    var whole = LineCutter(limit: limit)
    let lines = whole.add(input[...])
    var single = LineCutter(limit: limit)
    let again = input.indices.flatMap { single.add(input[$0...$0]) }
    try hold(lines == again, "cut in pieces, they are other lines")
    for line in lines {
      let bytes: [UInt8]
      switch line {
      case .whole(let line): bytes = line
      case .tooLong(let beginning): bytes = beginning
      }
      try hold(bytes.count <= limit, "a line has \(bytes.count) bytes")
      guard case .failure(let error)? = CoProcessAnswer(bytes)?.outcome else { continue }
      try holdPlain(error.sentence)
    }
  }

  static let programOutput = FuzzTarget("program-output", words: ["\n", "\r\n", " ", "\u{1B}[2J", "\u{2028}"]) {
    input throws(BrokenProperty) in
    let text = String(decoding: input, as: UTF8.self)
    var speech = CapturedOutput()
    speech.add(input)
    for line in [speech.firstLine, speech.lastLine].compactMap({ $0 }) {
      try holdPlain(line)
      try hold(1...255 ~= line.utf8.count, "a line has \(line.utf8.count) bytes")
    }
    try holdPlain(escaped(text))
    try holdPlain(escaped(String(decoding: input, as: UTF8.self), limit: 500))
  }

  static let localLine = FuzzTarget(
    "local-line",
    words: [
      "{", "}", "\"", ":", ",", "message", "request", "conversation", "inbox", "kind", "photo", "text", "attachment",
      "publishedAt", "2026-02-28T12:00:00.250Z", "width", "height",
    ]
  ) { input throws(BrokenProperty) in
    guard let line = LocalLine(input) else { return }
    try hold(!line.encoded.dropLast().contains(UInt8(ascii: "\n")), "a line is more than one")
    guard let again = LocalLine(line.encoded) else { throw BrokenProperty(description: "what was written is not read") }
    try hold(again.encoded == line.encoded, "what was written is not what is read")
  }
}
