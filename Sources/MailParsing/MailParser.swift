import Glibc

/// Parses a mail in one pass over its lines, with a stack instead of recursion. It unpacks nothing, so the answer is
/// never larger than the mail.
package struct MailParser {
  private enum Place {
    case header
    case body
    /// Before the first part of a multipart, or after its last one.
    case between
  }

  private let charsets: Charsets
  private let bytes: [UInt8]
  private(set) var parts: [MailPart] = []
  /// The open multiparts, from outside to inside.
  private var open: [(boundary: [UInt8], part: Int)] = []
  private var place = Place.header
  private var fields = MailFields()
  /// The part whose header is read.
  private var parent: Int?
  /// The leaf whose body is read.
  private var leaf: Int?
  private(set) var top = MailFields()

  /// - Throws: `MailRefusal` if the mail is not to be taken.
  package static func index(of bytes: [UInt8], charsets: Charsets, limit: Int) throws(MailRefusal) -> MailIndex {
    if bytes.count > limit { throw .tooMuch("bytes", bytes.count, limit: limit) }
    var parser = MailParser(charsets: charsets, bytes: bytes)
    do {
      try parser.parse()
      return try MailReading(bytes: bytes, top: parser.top, parts: parser.parts, charsets: charsets).index()
    } catch {
      var refusal = error
      // The header may be what is refused.
      let fields = parser.parts.isEmpty ? parser.fields : parser.top
      refusal.recipients = Array(MailReading.recipients(in: fields).prefix(MailLimits.recipients))
      refusal.sender = MailReading.sender(in: fields)
      throw refusal
    }
  }

  private mutating func parse() throws(MailRefusal) {
    var start = 0
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
      if end - start > MailLimits.lineBytes {
        throw .tooMuch("bytes in a line", end - start, limit: MailLimits.lineBytes)
      }
      let hasReturn = end > start && bytes[end - 1] == UInt8(ascii: "\r")
      try take(line: start..<(hasReturn ? end - 1 : end), next: min(bytes.count, end + 1))
      start = end + 1
    }
    if place == .header { try endHeader(at: bytes.count) }
    close(at: bytes.count)
  }

  /// - Parameter next: the place after the end of the line.
  private mutating func take(line: Range<Int>, next: Int) throws(MailRefusal) {
    if let found = boundary(in: line) {
      if place == .header { try endHeader(at: line.lowerBound) }
      // The end of the line before belongs to the boundary.
      var end = line.lowerBound
      if end > 0 { end -= 1 }
      if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      close(at: end)
      open.removeSubrange((found.isLast ? found.level : found.level + 1)...)
      place = found.isLast ? .between : .header
      if !found.isLast { (parent, fields) = (open[found.level].part, MailFields()) }
      return
    }
    guard place == .header else { return }
    if line.isEmpty { return try endHeader(at: next) }
    if try !fields.take(bytes[line]) { try endHeader(at: line.lowerBound) }
  }

  /// The innermost multipart whose boundary a line is.
  private func boundary(in line: Range<Int>) -> (level: Int, isLast: Bool)? {
    let dash = UInt8(ascii: "-")
    guard !open.isEmpty, line.count > 2, bytes[line.lowerBound] == dash, bytes[line.lowerBound + 1] == dash else {
      return nil
    }
    var text = bytes[(line.lowerBound + 2)..<line.upperBound]
    while let last = text.last, last <= 32 { text.removeLast() }
    for level in open.indices.reversed() {
      let boundary = open[level].boundary
      guard text.count >= boundary.count, Self.areEqual(text, boundary) else { continue }
      let rest = text.dropFirst(boundary.count)
      if rest.isEmpty { return (level, false) }
      if rest.elementsEqual([dash, dash]) { return (level, true) }
    }
    return nil
  }

  /// Whether `text` begins with `boundary`, which is not longer. A hostile mail has long lines that differ at their ends.
  private static func areEqual(_ text: ArraySlice<UInt8>, _ boundary: [UInt8]) -> Bool {
    text.withUnsafeBytes { text in
      boundary.withUnsafeBytes { boundary in
        guard let left = text.baseAddress, let right = boundary.baseAddress else { return false }
        return memcmp(left, right, boundary.count) == 0
      }
    }
  }

  /// Ends the leaf whose body is read.
  private mutating func close(at end: Int) {
    guard let leaf else { return }
    parts[leaf].range = parts[leaf].range.lowerBound..<max(end, parts[leaf].range.lowerBound)
    self.leaf = nil
  }

  /// Ends a header. Its body begins at `start`.
  private mutating func endHeader(at start: Int) throws(MailRefusal) {
    if parts.isEmpty { top = fields }
    if parts.count == MailLimits.parts { throw .tooMuch("parts or more", parts.count + 1, limit: MailLimits.parts) }
    let isDigest = parent.map { parts[$0].type == "multipart/digest" } ?? false
    var part = try MailPart(fields, parent: parent, type: isDigest ? "message/rfc822" : "text/plain")
    part.depth = (parent.map { parts[$0].depth } ?? 0) + 1
    if part.depth > MailLimits.depth { throw .tooMuch("levels of parts", part.depth, limit: MailLimits.depth) }
    part.range = start..<start
    parts.append(part)
    let number = parts.count - 1
    if part.type.hasPrefix("multipart/"), let boundary = part.boundary {
      if boundary.count > MailLimits.boundaryBytes {
        throw .tooMuch("bytes of boundary", boundary.count, limit: MailLimits.boundaryBytes)
      }
      open.append((boundary, number))
      place = .between
    } else if part.type == "message/rfc822", part.encoding == .plain {
      (place, parent, fields) = (.header, number, MailFields())
    } else {
      (place, leaf) = (.body, number)
    }
  }
}
