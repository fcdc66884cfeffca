/// The fields of one block of a mail's header, unfolded, in their order.
struct MailFields {
  struct Field {
    /// In lower case.
    let name: String
    fileprivate(set) var value: [UInt8]
  }

  private(set) var all: [Field] = []
  private(set) var bytes = 0
  private(set) var lines = 0

  /// Takes a line without its end. Returns false if it is no part of a header: the body begins with it.
  mutating func take(_ line: ArraySlice<UInt8>) throws(MailRefusal) -> Bool {
    bytes += line.count + 1
    lines += 1
    if bytes > MailLimits.headerBytes {
      throw .tooMuch("bytes of header fields", bytes, limit: MailLimits.headerBytes)
    }
    if lines > MailLimits.headerLines { throw .tooMuch("lines of header", lines, limit: MailLimits.headerLines) }
    if let first = line.first, isBlank(first), !all.isEmpty {
      all[all.count - 1].value += line
      return true
    }
    // As in a mailbox file, before the fields: `From a@b Fri Nov 27 12:00:00 2026`. Some agents write it.
    let isSeparator = lines == 1 && line.starts(with: "From ".utf8)
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return isSeparator }
    var name = line[..<colon]
    while let last = name.last, isBlank(last) { name.removeLast() }
    guard !name.isEmpty, name.allSatisfy({ $0 > 32 && $0 < 127 }) else { return isSeparator }
    all.append(Field(name: String(decoding: name, as: UTF8.self).lowercased(), value: Array(line[(colon + 1)...])))
    return true
  }

  /// The value of the first field with this name, without white space around it.
  func value(_ name: String) -> [UInt8]? { all.first { $0.name == name }.map { trimmed($0.value[...]) } }

  /// The same as text in lower case, for words.
  func word(_ name: String) -> String { String(decoding: value(name) ?? [], as: UTF8.self).lowercased() }
}

func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

/// Without blanks and ends of lines around it.
func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
  var rest = bytes
  while let first = rest.first, first <= 32 { rest.removeFirst() }
  while let last = rest.last, last <= 32 { rest.removeLast() }
  return Array(rest)
}

/// Visits the bytes of a field without comments, quotation marks and backslashes. A byte is literal if it was quoted.
func forEachByte(of field: [UInt8], _ visit: (_ byte: UInt8, _ isLiteral: Bool) -> Void) {
  var (isQuoted, isEscaped, depth) = (false, false, 0)
  for byte in field {
    if isEscaped {
      if depth == 0 { visit(byte, true) }
      isEscaped = false
      continue
    }
    switch byte {
    case UInt8(ascii: "\\") where isQuoted || depth > 0: isEscaped = true
    case UInt8(ascii: "\"") where depth == 0: isQuoted.toggle()
    case UInt8(ascii: "(") where !isQuoted: depth += 1
    case UInt8(ascii: ")") where depth > 0: depth -= 1
    default: if depth == 0 { visit(byte, isQuoted) }
    }
  }
}

/// A field such as `Content-Type: text/plain; charset=utf-8`: a word and its parameters.
struct ParameterField {
  /// In lower case.
  let word: String
  private let parameters: [String: [UInt8]]

  /// - Throws: `MailRefusal` if a parameter is in too many pieces.
  init(_ bytes: [UInt8]) throws(MailRefusal) {
    var parts = Self.split(bytes)
    word = String(decoding: trimmed(parts.removeFirst()[...]), as: UTF8.self).lowercased()
    var plain: [String: [UInt8]] = [:]
    // `name*0*`, `name*1` and so on, of RFC 2231.
    var pieces: [String: [UInt: [UInt8]]] = [:]
    for part in parts {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
      var name = String(decoding: trimmed(part[..<equals]), as: UTF8.self).lowercased()
      var value = trimmed(part[(equals + 1)...])
      if name.hasSuffix("*") {
        name.removeLast()
        value = Self.percentDecoded(value)
      }
      if let star = name.firstIndex(of: "*"), let number = UInt(name[name.index(after: star)...]) {
        guard number < MailLimits.pieces else {
          throw .tooMuch("pieces of a parameter or more", MailLimits.pieces + 1, limit: MailLimits.pieces)
        }
        pieces[String(name[..<star]), default: [:]][number] = value
      } else if plain[name] == nil {
        plain[name] = value
      }
    }
    for (name, values) in pieces where plain[name] == nil {
      plain[name] = values.sorted { $0.key < $1.key }.flatMap(\.value)
    }
    parameters = plain
  }

  subscript(_ name: String) -> [UInt8]? { parameters[name] }

  func text(_ name: String) -> String { String(decoding: parameters[name] ?? [], as: UTF8.self) }

  /// Splits at semicolons outside of quotation marks, and removes the marks and comments.
  private static func split(_ bytes: [UInt8]) -> [[UInt8]] {
    var parts: [[UInt8]] = [[]]
    forEachByte(of: bytes) { byte, isLiteral in
      if byte == UInt8(ascii: ";"), !isLiteral { parts.append([]) } else { parts[parts.count - 1].append(byte) }
    }
    return parts
  }

  /// The value of an extended parameter, without `charset'language'`.
  private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8] {
    var rest = bytes[...]
    let marks = bytes.indices.filter { bytes[$0] == UInt8(ascii: "'") }
    if marks.count >= 2 { rest = bytes[(marks[1] + 1)...] }
    var decoded = [UInt8]()
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2, let high = TransferEncoding.digit(rest[rest.startIndex]),
        let low = TransferEncoding.digit(rest[rest.startIndex + 1])
      {
        decoded.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        decoded.append(byte)
      }
    }
    return decoded
  }
}
