import Photos

/// The contents of a mail and their places, without a byte of its photos.
package struct MailIndex: Sendable, Equatable {
  /// An image in the file.
  package struct Image: Sendable, Equatable {
    /// Where its encoded bytes lie in the file.
    package let range: Range<Int>
    package let encoding: TransferEncoding
    package let format: PhotoFormat
  }

  /// The field without white space around it; empty if it is missing.
  package var messageID = ""
  package var subject = ""
  /// The address of `From`; a claim of the sender and no proof.
  package var sender = ""
  /// The addresses that this file is for.
  package var recipients: [String] = []
  /// The body in UTF-8 with lines that end with a newline.
  package var body = ""
  /// In the order of appearance.
  package var images: [Image] = []
  /// The kinds of parts that are left out, such as `video/mp4`.
  package var others: [String] = []
}

/// The parser's answer: the index of a mail, or the refusal.
package struct MailAnswer: Sendable {
  package let result: Result<MailIndex, MailRefusal>

  private static let lineLimit = 4 * MailLimits.fieldBytes

  package init(_ result: Result<MailIndex, MailRefusal>) { self.result = result }

  package var encoded: [UInt8] {
    var writer = WireWriter()
    switch result {
    case .failure(let refusal):
      writer.put(1)
      writer.put(refusal.description)
      writer.put(refusal.sender)
      writer.put(refusal.recipients)
      writer.put(refusal.reason.rawValue)
    case .success(let index):
      writer.put(0)
      for text in [index.messageID, index.subject, index.sender, index.body] { writer.put(text) }
      for list in [index.recipients, index.others] { writer.put(list) }
      writer.put(index.images.count)
      for image in index.images {
        writer.put(image.range.lowerBound)
        writer.put(image.range.upperBound)
        writer.put(image.encoding.rawValue)
        writer.put(image.format.rawValue)
      }
    }
    return writer.bytes
  }

  /// Validates an answer, because its process has parsed untrusted bytes. Returns nil for anything that a correct parser
  /// cannot answer.
  ///
  /// - Parameter size: the size of the mail's file; every range lies within it.
  package init?(encoded bytes: [UInt8], size: Int) {
    var reader = WireReader(bytes)
    do {
      if try reader.number(in: 0...1) == 1 {
        let sentence = try reader.line(limit: Self.lineLimit)
        let sender = try reader.line(limit: Self.lineLimit)
        let recipients = try reader.lines(MailLimits.recipients, limit: Self.lineLimit)
        guard let reason = MailRefusal.Reason(rawValue: try reader.text(limit: 64)) else { throw WireReader.Nonsense() }
        var refusal = MailRefusal(reason, sentence)
        (refusal.sender, refusal.recipients) = (sender, recipients)
        result = .failure(refusal)
      } else {
        result = .success(try Self.index(from: &reader, size: size))
      }
      try reader.end()
    } catch {
      return nil
    }
  }

  private static func index(from reader: inout WireReader, size: Int) throws(WireReader.Nonsense) -> MailIndex {
    var index = MailIndex()
    index.messageID = try reader.line(limit: lineLimit)
    index.subject = try reader.line(limit: lineLimit)
    index.sender = try reader.line(limit: lineLimit)
    index.body = try reader.text(limit: MailLimits.textBytes)
    index.recipients = try reader.lines(MailLimits.recipients, limit: lineLimit)
    index.others = try reader.lines(MailLimits.others, limit: lineLimit)
    for _ in 0..<(try reader.number(in: 0...MailLimits.images)) {
      let start = try reader.number(in: 0...max(0, size))
      let end = try reader.number(in: start...max(start, size))
      guard let encoding = TransferEncoding(rawValue: try reader.text(limit: 64)),
        let format = PhotoFormat(rawValue: try reader.text(limit: 64)), format.isPhoto, end <= size
      else { throw WireReader.Nonsense() }
      index.images.append(MailIndex.Image(range: start..<end, encoding: encoding, format: format))
    }
    return index
  }
}

/// A field's text without controls and breaks of lines, which become blanks.
func oneLine(_ text: String) -> String {
  var plain = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: plain.append(" ")
    case .format: continue
    default: plain.append(scalar)
    }
  }
  return String(plain)
}

extension String {
  /// The beginning with at most `limit` bytes of UTF-8, cut between characters.
  package func prefix(bytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
