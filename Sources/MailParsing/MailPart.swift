/// A part of a mail: a multipart, a mail within the mail, or a leaf.
struct MailPart {
  /// In lower case.
  let type: String
  let parent: Int?
  let encoding: TransferEncoding
  let charset: String
  let boundary: [UInt8]?
  /// Its lines that end in a blank go on in the next one (RFC 3676), and whether such a blank is no part of the text.
  let isFlowed: Bool
  let losesBlanks: Bool
  let isAttachment: Bool
  let hasName: Bool
  let hasContentID: Bool
  var depth = 1
  /// The bytes of a leaf's body.
  var range = 0..<0

  /// - Parameter type: that of a part without `Content-Type`.
  init(_ fields: MailFields, parent: Int?, type standard: String) throws(MailRefusal) {
    let type = try ParameterField(fields.value("content-type") ?? [])
    let disposition = try ParameterField(fields.value("content-disposition") ?? [])
    self.parent = parent
    self.type = type.word.contains("/") ? oneLine(type.word).prefix(bytes: 100) : standard
    charset = type.text("charset")
    boundary = type["boundary"].flatMap { text in text.lastIndex { $0 > 32 }.map { Array(text[...$0]) } }
    encoding = TransferEncoding(field: try ParameterField(fields.value("content-transfer-encoding") ?? []).word)
    isFlowed = type.text("format").lowercased() == "flowed"
    losesBlanks = type.text("delsp").lowercased() == "yes"
    isAttachment = disposition.word == "attachment"
    hasName = disposition["filename"] != nil || type["name"] != nil
    hasContentID = fields.value("content-id") != nil
  }

  var isText: Bool { type == "text/plain" && !isAttachment && !hasName }
  var isPage: Bool { type == "text/html" && !isAttachment && !hasName }
}
