import MailParsing

/// A mail from standard input, and the files that it becomes. Only its header is read.
package struct SubmittedMail: Sendable {
  private struct Field {
    /// In lower case.
    let name: String
    /// With the name and all lines of it.
    var text: [UInt8]

    var value: [UInt8] { Array(text.drop { $0 != UInt8(ascii: ":") }.dropFirst()) }
  }

  private var fields: [Field] = []
  private let body: ArraySlice<UInt8>

  /// - Parameters:
  ///   - bytes: lines with CRLF become lines with LF.
  ///   - endsAtDot: whether a line with a dot ends the mail.
  package init(_ bytes: [UInt8], endsAtDot: Bool) {
    let lines = Self.plain(bytes, endsAtDot: endsAtDot)
    var start = 0
    while start < lines.count {
      let end = lines[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? lines.count
      let line = lines[start..<end]
      if line.elementsEqual([UInt8(ascii: "\n")]) {
        start = end
        break
      }
      if let first = line.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t"), !fields.isEmpty {
        fields[fields.count - 1].text += line
      } else if let name = Self.name(of: line) {
        fields.append(Field(name: name, text: Array(line)))
      } else if !(fields.isEmpty && line.starts(with: "From ".utf8)) {
        // The body begins without an empty line.
        break
      }
      start = end
    }
    if let last = fields.last, last.text.last != UInt8(ascii: "\n") {
      fields[fields.count - 1].text.append(UInt8(ascii: "\n"))
    }
    body = lines[start...]
  }

  private static func plain(_ bytes: [UInt8], endsAtDot: Bool) -> [UInt8] {
    var plain = [UInt8]()
    plain.reserveCapacity(bytes.count)
    var start = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
      var line = bytes[start..<end]
      if line.count > 1, line.last == UInt8(ascii: "\n"), line[line.endIndex - 2] == UInt8(ascii: "\r") {
        line = line.dropLast(2)
        if endsAtDot, line.elementsEqual([UInt8(ascii: ".")]) { break }
        plain += line
        plain.append(UInt8(ascii: "\n"))
      } else {
        if endsAtDot, line.elementsEqual([UInt8(ascii: "."), UInt8(ascii: "\n")]) { break }
        plain += line
      }
      start = end
    }
    return plain
  }

  private static func name(of line: ArraySlice<UInt8>) -> String? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      line[..<colon].allSatisfy({ $0 > 32 && $0 < 127 })
    else { return nil }
    return String(decoding: line[..<colon], as: UTF8.self).lowercased()
  }

  private func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// The addresses of `To`, `Cc` and `Bcc`, or of their `Resent-` fields.
  package var recipients: [String] {
    let names = ["to", "cc", "bcc"]
    let isResent = fields.contains { $0.name == "resent-to" || $0.name == "resent-cc" || $0.name == "resent-bcc" }
    return fields.filter { names.map { isResent ? "resent-\($0)" : $0 }.contains($0.name) }
      .flatMap { MailAddresses.all(in: $0.value) }
  }

  /// The address of `From`.
  package var author: String? { fields.first { $0.name == "from" }.flatMap { MailAddresses.all(in: $0.value).first } }

  /// The file for one recipient: the fields of an agent, the mail's own without `Bcc`, those that it lacks, and its body.
  ///
  /// - Parameters:
  ///   - sender: empty for none.
  ///   - date: as in `Date`.
  ///   - token: unique.
  package func file(
    for recipient: String, from sender: String, fullName: String?, host: String, date: String, token: String
  ) -> [UInt8] {
    let (sender, host) = (Self.plain(sender), Self.plain(host))
    var head = "Return-Path: <\(sender)>\nDelivered-To: \(Self.plain(recipient))\n"
    head += "Received: by \(host) (photospool) id \(token); \(date)\n"
    var bytes = Array(head.utf8)
    for field in fields where !["bcc", "resent-bcc", "return-path"].contains(field.name) { bytes += field.text }
    if !has("from") {
      let name = fullName.map { "\"\(Self.plain($0).filter { !"\"\\".contains($0) })\" " } ?? ""
      bytes += Array("From: \(name)<\(sender)>\n".utf8)
    }
    if !has("date") { bytes += Array("Date: \(date)\n".utf8) }
    if !has("message-id") { bytes += Array("Message-ID: <\(token)@\(host)>\n".utf8) }
    bytes.append(UInt8(ascii: "\n"))
    return bytes + body
  }

  /// Without controls, so that an argument adds no field.
  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
  }
}
