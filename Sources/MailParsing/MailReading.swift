import Photos

/// Makes the index of a parsed mail, or refuses it.
struct MailReading {
  let bytes: [UInt8]
  /// The fields of the mail itself.
  let top: MailFields
  let parts: [MailPart]
  let charsets: Charsets

  /// The texts of the mail itself, or of mails in it. More than can be sent are not read, because that takes long.
  private struct Body {
    private var texts: [(part: Int, text: String)] = []
    private var bytes = 0

    var isFull: Bool { bytes >= 4 * MailLimits.textBytes }

    mutating func add(_ text: String, of part: Int) {
      bytes += text.utf8.count
      texts.append((part, text))
    }

    /// In the order of the mail, with a blank line between two.
    var joined: String {
      texts.sorted { $0.part < $1.part }.map(\.text).filter { !$0.isEmpty }.joined(separator: "\n\n")
    }
  }

  func index() throws(MailRefusal) -> MailIndex {
    try refuseAnswers()
    try refuseSealed()
    let words = EncodedWords(charsets: charsets)
    var index = MailIndex()
    index.messageID = oneLine(String(decoding: top.value("message-id") ?? [], as: UTF8.self))
      .prefix(bytes: MailLimits.fieldBytes)
    index.subject = try words.text(top.value("subject") ?? [])
    index.sender = Self.sender(in: top)
    index.recipients = Self.recipients(in: top)
    if index.recipients.count > MailLimits.recipients {
      throw .tooMuch("recipients", index.recipients.count, limit: MailLimits.recipients)
    }
    // The mail's own texts come first, and those of mails in it.
    var bodies = [Body(), Body()]
    /// The alternatives that have a plain text, so that their pages are not needed.
    var told = Set<Int>()
    let hasPage = parts.contains(where: \.isPage)
    for (number, part) in parts.enumerated() where !isLeftOut(number) {
      if part.type.hasPrefix("multipart/"), part.boundary != nil { continue }
      if part.type == "message/rfc822", part.encoding == .plain { continue }
      if let format = format(of: part) {
        if hasPage, isDecoration(part) { continue }
        try add(MailIndex.Image(range: part.range, encoding: part.encoding, format: format), to: &index)
      } else if part.isText {
        let body = isInner(number) ? 1 : 0
        let (text, images) = text(of: part, isWanted: !bodies[body].isFull)
        for image in images { try add(image, to: &index) }
        let plain = Self.cleaned(part.isFlowed ? FlowedText.joined(text, losesBlanks: part.losesBlanks) : text)
        bodies[body].add(plain, of: number)
        if !plain.isEmpty { told.formUnion(alternatives(of: number)) }
      } else if index.others.count < MailLimits.others, !Self.unnamed.contains(part.type) {
        index.others.append(part.type)
      }
    }
    for (number, part) in parts.enumerated() where part.isPage && !isLeftOut(number) {
      let body = isInner(number) ? 1 : 0
      guard !bodies[body].isFull, told.isDisjoint(with: alternatives(of: number)) else { continue }
      bodies[body].add(Self.cleaned(HTMLText.text(of: decoded(part))), of: number)
    }
    let found = bodies.lazy.map(\.joined).first { !$0.isEmpty }
    index.body = (found ?? "").prefix(bytes: MailLimits.textBytes)
    return index
  }

  /// Parts that nobody misses.
  private static let unnamed: Set = [
    "application/pgp-signature", "application/pkcs7-signature", "text/plain", "text/html",
  ]

  private func add(_ image: MailIndex.Image, to index: inout MailIndex) throws(MailRefusal) {
    if index.images.count == MailLimits.images {
      throw .tooMuch("images or more", MailLimits.images + 1, limit: MailLimits.images)
    }
    index.images.append(image)
  }

  // MARK: What is refused

  /// Refuses what machines answer, so that no loop can arise.
  private func refuseAnswers() throws(MailRefusal) {
    let type = parts.first?.type ?? ""
    if type == "multipart/report" {
      throw MailRefusal(
        .answer, "the mail is a report about another mail, and is not sent on; let its sender send photos")
    }
    let isReply = top.word("auto-submitted").hasPrefix("auto-replied") || top.word("precedence") == "auto_reply"
    if isReply || top.value("x-autoreply") != nil || top.value("x-autorespond") != nil {
      throw MailRefusal(
        .answer, "the mail is an automatic answer, and is not sent on; let its sender not answer this address")
    }
    let received = top.all.count { $0.name == "received" }
    if received > MailLimits.received { throw .tooMuch("fields Received", received, limit: MailLimits.received) }
    if top.all.contains(where: { $0.name == "x-loop" && trimmed($0.value[...]).elementsEqual("photospool".utf8) }) {
      throw MailRefusal(
        .answer, "photospool itself sent this mail (X-Loop); do not mail its messages to its own address")
    }
  }

  private func refuseSealed() throws(MailRefusal) {
    for part in parts {
      switch part.type {
      case "multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime":
        throw MailRefusal(
          .contents,
          "the mail is encrypted, or wrapped in its signature (\(part.type)); let its sender send it as it is")
      case "message/external-body", "message/partial":
        throw MailRefusal(
          .contents, "the mail does not hold its own contents (\(part.type)); let its sender attach the photo")
      default: continue
      }
    }
  }

  // MARK: Recipients

  /// The recipient that the delivery agent wrote on top of the file, before the first `Received`; without one, all of
  /// `To` and `Cc`. A sender's own fields stand below.
  static func recipients(in top: MailFields) -> [String] {
    let agents = top.all.prefix { $0.name != "received" }
    if agents.count < top.all.count,
      let field = agents.first(where: { ["x-original-to", "delivered-to", "envelope-to"].contains($0.name) })
    {
      return Array(MailAddresses.all(in: field.value).prefix(1))
    }
    let resent = top.all.contains { $0.name == "resent-to" || $0.name == "resent-cc" }
    let names = resent ? ["resent-to", "resent-cc"] : ["to", "cc"]
    var seen = Set<String>()
    return top.all.filter { names.contains($0.name) }.flatMap { MailAddresses.all(in: $0.value) }
      .filter { seen.insert($0.lowercased()).inserted }
  }

  static func sender(in top: MailFields) -> String { MailAddresses.all(in: top.value("from") ?? []).first ?? "" }

  // MARK: Parts

  /// The parts around a part, from inside to outside.
  private func ancestors(of number: Int) -> [Int] { Array(sequence(first: number) { parts[$0].parent }.dropFirst()) }

  /// Whether a part is a later part of a signed multipart: the signature.
  private func isLeftOut(_ number: Int) -> Bool {
    var child = number
    while let parent = parts[child].parent {
      if parts[parent].type == "multipart/signed", parts.firstIndex(where: { $0.parent == parent }) != child {
        return true
      }
      child = parent
    }
    return false
  }

  /// The multiparts around a part whose parts say the same in different forms, within its own mail.
  private func alternatives(of number: Int) -> [Int] {
    ancestors(of: number).prefix { parts[$0].type != "message/rfc822" }
      .filter { parts[$0].type == "multipart/alternative" }
  }

  /// Whether a part belongs to a mail within the mail.
  private func isInner(_ number: Int) -> Bool {
    ancestors(of: number).contains { parts[$0].type == "message/rfc822" }
  }

  private func decoded(_ part: MailPart) -> String {
    charsets.text(part.encoding.decode(bytes[part.range], limit: 4 * MailLimits.textBytes), in: part.charset)
  }

  /// The format of an image by its first bytes, whatever its label.
  private func format(of part: MailPart) -> PhotoFormat? {
    let begin = part.encoding.decode(bytes[part.range].prefix(2_000), limit: 280)
    return PhotoFormat(of: begin).flatMap { $0.isPhoto ? $0 : nil }
  }

  /// Whether an image is a logo or a tracking dot of a page.
  private func isDecoration(_ part: MailPart) -> Bool {
    guard part.hasContentID, !part.isAttachment, part.range.count < 4 * MailLimits.decorationBytes else { return false }
    return part.encoding.decode(bytes[part.range]).count < MailLimits.decorationBytes
  }

  /// The text of a leaf if it is wanted, and the images that are in it as uuencode and not in the text.
  private func text(of part: MailPart, isWanted: Bool) -> (String, [MailIndex.Image]) {
    guard part.encoding == .plain else { return (isWanted ? decoded(part) : "", []) }
    var (kept, images) = ([UInt8](), [MailIndex.Image]())
    let most = isWanted ? 4 * MailLimits.textBytes : 0
    var start = part.range.lowerBound
    /// Where `begin` stands.
    var begin: Int?
    /// More are taken for text.
    var tried = 0
    while start < part.range.upperBound {
      let end = bytes[start..<part.range.upperBound].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
      let line = start..<(end ?? part.range.upperBound)
      if begin == nil, tried < MailLimits.parts, TransferEncoding.isBegin(bytes[line]) {
        begin = line.lowerBound
        tried += 1
      }
      if let first = begin {
        if bytes[line].starts(with: "end".utf8), trimmed(bytes[line]).count == 3 {
          let range = first..<line.upperBound
          let head = TransferEncoding.uuencode.decode(bytes[range].prefix(1_000), limit: 280)
          if let format = PhotoFormat(of: head), format.isPhoto {
            images.append(MailIndex.Image(range: range, encoding: .uuencode, format: format))
          } else if kept.count < most {
            kept += bytes[range]
          }
          begin = nil
        }
      } else if kept.count < most {
        kept += bytes[line]
      }
      start = line.upperBound
    }
    if let begin, kept.count < most { kept += bytes[begin..<part.range.upperBound].prefix(most) }
    return (charsets.text(kept, in: part.charset), images)
  }

  // MARK: Text

  /// A text without signature and controls.
  static func cleaned(_ text: String) -> String {
    var lines = [Substring]()
    let plain = text.replacing("\r\n", with: "\n")
    for line in plain.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      if line == "-- " { break }
      lines.append(line)
    }
    var scalars = String.UnicodeScalarView()
    for scalar in lines.joined(separator: "\n").unicodeScalars
    where scalar == "\n" || scalar == "\t" || scalar.properties.generalCategory != .control {
      scalars.append(scalar)
    }
    return String(scalars).trimmingBlanks
  }
}
