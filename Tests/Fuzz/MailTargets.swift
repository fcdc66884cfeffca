import MailParsing

extension FuzzTarget {
  static let mails: [FuzzTarget] = [mail, mailAnswer]

  /// Parsers run on one thread, and opening all converters takes longer than an input.
  nonisolated(unsafe) private static let charsets = Charsets()

  /// As the locked process does it, and the decoding that the daemon does.
  static let mail = FuzzTarget(
    "mail",
    words: [
      "Content-Type: ", "multipart/mixed; boundary=", "message/rfc822", "\n\n", "--x\n", "--x--\n", "base64",
      "begin 644 a\n",
      "quoted-printable", "=?utf-8?B?", "=?gb2312?Q?", "?=", "*0*=", "Received: by x\n", "Delivered-To: ", "text/html",
      "Content-Transfer-Encoding: ", "/9j/4AAQ", "<p>", "&#", "\nend\n", "x-uuencode", "filename=",
    ],
    // The locked process gets the same memory, and more time for slow machines.
    limits: Watch.Limits(seconds: 1, memory: 256 << 20)
  ) { input throws(BrokenProperty) in
    let limit = 1 << 20
    guard let index = try? MailParser.index(of: input, charsets: charsets, limit: limit) else { return }
    let encoded = MailAnswer(.success(index)).encoded
    try hold(encoded.count <= MailLimits.answerBytes, "an answer has \(encoded.count) bytes")
    let again = try? MailAnswer(encoded: encoded, size: input.count)?.result.get()
    try hold(again == index, "what was written is not what is read")
    for image in index.images {
      let decoded = image.encoding.decode(input[image.range], limit: input.count)
      try hold(decoded.count <= image.range.count, "a part is larger than what it is made of")
    }
    for text in [index.messageID, index.subject, index.sender] + index.recipients + index.others { try holdPlain(text) }
  }

  static let mailAnswer = FuzzTarget("mail-answer", words: ["base64", "plain", "uuencode", "jpeg", "png"]) {
    input throws(BrokenProperty) in
    guard let answer = MailAnswer(encoded: input, size: 4096) else { return }
    switch answer.result {
    case .success(let index):
      for image in index.images { try hold(0...4096 ~= image.range.upperBound, "an image is outside of its file") }
    case .failure(let refusal): try holdPlain(refusal.description)
    }
    let again = MailAnswer(encoded: answer.encoded, size: 4096)
    try hold(again?.encoded == answer.encoded, "what was written is not what is read")
  }
}
