import Glibc

/// Reads a body of type multipart/form-data (RFC 7578, RFC 2046 §5.1) piece by piece, in constant memory.
struct MultipartReader {
  /// A part's header.
  struct Part: Equatable {
    let name: String
    /// The client's name of the file; nil for a plain field.
    let fileName: String?
  }

  enum Event: Equatable {
    case begin(Part)
    case bytes([UInt8])
    case end
  }

  /// The body is not what it claims to be.
  struct Malformed: Error {}

  private enum State {
    /// Before the first delimiter, after which the header of a part comes.
    case preamble
    /// After a delimiter.
    case delimiter
    case header
    case contents
    case epilogue
  }

  private let delimiter: [UInt8]
  private var state = State.preamble
  private var buffer: [UInt8]

  /// Bytes of one part's header.
  private static let longestHeader = 4096
  private static let newline = Array("\r\n".utf8)

  /// - Parameter contentType: the request's Content-Type.
  /// - Throws: if it is another type, or has no valid boundary.
  init(contentType: String) throws(Malformed) {
    let parts = contentType.split(separator: ";").map { $0.trimmed }
    guard parts.first?.lowercased() == "multipart/form-data",
      let parameter = parts.first(where: { $0.lowercased().hasPrefix("boundary=") })
    else { throw Malformed() }
    let boundary = String(parameter.dropFirst("boundary=".count)).unquoted
    guard (1...70).contains(boundary.utf8.count) else { throw Malformed() }
    delimiter = Array("\r\n--\(boundary)".utf8)
    // The first delimiter may begin the body, without a line break.
    buffer = Self.newline
  }

  /// Takes the next bytes of the body, and passes on what they complete.
  mutating func read(_ bytes: some Sequence<UInt8>, _ take: (Event) throws -> Void) throws {
    buffer += bytes
    while try step(take) {}
  }

  /// - Throws: if the body ended before its last delimiter.
  func finish() throws(Malformed) {
    guard case .epilogue = state else { throw Malformed() }
  }

  /// Returns whether more can be read from the buffer.
  private mutating func step(_ take: (Event) throws -> Void) throws -> Bool {
    switch state {
    case .preamble:
      guard let place = buffer.place(of: delimiter) else {
        buffer.removeFirst(max(0, buffer.count - delimiter.count + 1))
        return false
      }
      buffer.removeFirst(place + delimiter.count)
      state = .delimiter
      return true
    case .delimiter:
      guard buffer.count >= 2 else { return false }
      if buffer.starts(with: "--".utf8) {
        state = .epilogue
        buffer = []
        return false
      }
      guard buffer.starts(with: Self.newline) else { throw Malformed() }
      state = .header
      return true
    case .header:
      // The line break of the delimiter may be that of the empty line.
      guard let place = buffer.place(of: Self.newline + Self.newline) else {
        if buffer.count > Self.longestHeader { throw Malformed() }
        return false
      }
      guard place <= Self.longestHeader else { throw Malformed() }
      try take(.begin(Self.part(String(decoding: buffer[..<place], as: UTF8.self))))
      buffer.removeFirst(place + 2 * Self.newline.count)
      state = .contents
      return true
    case .contents:
      guard let place = buffer.place(of: delimiter) else {
        let ready = buffer.count - delimiter.count + 1
        if ready > 0 {
          try take(.bytes(Array(buffer.prefix(ready))))
          buffer.removeFirst(ready)
        }
        return false
      }
      if place > 0 { try take(.bytes(Array(buffer.prefix(place)))) }
      try take(.end)
      buffer.removeFirst(place + delimiter.count)
      state = .delimiter
      return true
    case .epilogue:
      buffer = []
      return false
    }
  }

  /// The part of a header's Content-Disposition.
  private static func part(_ header: String) throws(Malformed) -> Part {
    let lines = header.split(whereSeparator: \.isNewline)
    let prefix = "content-disposition:"
    guard let line = lines.first(where: { $0.lowercased().hasPrefix(prefix) }) else { throw Malformed() }
    var name: String?
    var fileName: String?
    for parameter in parameters(line.dropFirst(prefix.count)) {
      guard let equals = parameter.firstIndex(of: "=") else { continue }
      // Browsers write these three bytes as percent codes (WHATWG HTML, multipart/form-data).
      let value = String(parameter[parameter.index(after: equals)...]).unquoted
        .replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
      switch parameter[..<equals].lowercased() {
      case "name": name = value
      case "filename": fileName = value
      default: break
      }
    }
    guard let name else { throw Malformed() }
    return Part(name: name, fileName: fileName)
  }

  /// Splits at semicolons outside of quotes.
  private static func parameters(_ text: Substring) -> [String] {
    var parts = [""]
    var isQuoted = false
    for character in text {
      if character == "\"" { isQuoted.toggle() }
      if character == ";" && !isQuoted { parts.append("") } else { parts[parts.count - 1].append(character) }
    }
    return parts.map { $0.trimmed }
  }
}

extension StringProtocol {
  fileprivate var trimmed: String {
    String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
  }
}

extension String {
  fileprivate var unquoted: String {
    count >= 2 && hasPrefix("\"") && hasSuffix("\"") ? String(dropFirst().dropLast()) : self
  }
}

extension [UInt8] {
  /// The first place of `bytes`; nil if they are not there.
  fileprivate func place(of bytes: [UInt8]) -> Int? {
    guard let first = bytes.first else { return 0 }
    return withUnsafeBytes { here in
      var start = 0
      while start + bytes.count <= here.count {
        guard let base = here.baseAddress, let found = memchr(base + start, Int32(first), here.count - start) else {
          return nil
        }
        start = UnsafeRawPointer(found) - base
        if here[start...].starts(with: bytes) { return start }
        start += 1
      }
      return nil
    }
  }
}
