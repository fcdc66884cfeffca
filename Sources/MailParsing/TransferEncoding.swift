/// How the bytes of a part are written in a mail.
package enum TransferEncoding: String, Sendable, CaseIterable {
  case plain, base64, quotedPrintable, uuencode

  /// The encoding that `Content-Transfer-Encoding` names; an unknown one is taken as written.
  init(field: String) {
    switch field {
    case "base64": self = .base64
    case "quoted-printable": self = .quotedPrintable
    case "x-uuencode", "uuencode", "x-uue", "uue": self = .uuencode
    default: self = .plain
    }
  }

  /// Decodes a part. Damaged places lose their own bytes and nothing else, as in every mail program.
  ///
  /// - Parameter limit: at most this many bytes are returned.
  package func decode(_ bytes: ArraySlice<UInt8>, limit: Int = .max) -> [UInt8] {
    switch self {
    case .plain: Array(bytes.prefix(limit))
    case .base64: Self.base64(bytes, limit)
    case .quotedPrintable: Self.quotedPrintable(bytes, limit)
    case .uuencode: Self.uuencode(bytes, limit)
    }
  }

  /// Each byte's value in base64; 64 for `=`, 255 for others.
  private static let sextets: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (value, byte) in alphabet.utf8.enumerated() { values[Int(byte)] = UInt8(value) }
    values[Int(UInt8(ascii: "="))] = 64
    return values
  }()

  private static func base64(_ bytes: ArraySlice<UInt8>, _ limit: Int) -> [UInt8] {
    let values = sextets
    var decoded = [UInt8]()
    decoded.reserveCapacity(min(limit, bytes.count / 4 * 3 + 3))
    var (bits, count) = (UInt32(0), 0)
    for byte in bytes {
      let value = values[Int(byte)]
      if value > 64 { continue }
      if value == 64 {
        // Some devices encode in pieces, each with its own end.
        (bits, count) = (0, 0)
        continue
      }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        if decoded.count == limit { return decoded }
        decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return decoded
  }

  private static func quotedPrintable(_ bytes: ArraySlice<UInt8>, _ limit: Int) -> [UInt8] {
    var decoded = [UInt8]()
    var index = bytes.startIndex
    /// Blanks that are dropped if the line ends.
    var blanks = [UInt8]()
    while index < bytes.endIndex, decoded.count < limit {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"):
        blanks.append(byte)
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        blanks = []
        decoded.append(byte)
      case UInt8(ascii: "="):
        decoded += blanks
        blanks = []
        if let (value, next) = escape(in: bytes, at: index) {
          if let value { decoded.append(value) }
          index = next
        } else {
          decoded.append(byte)
        }
      default:
        decoded += blanks
        blanks = []
        decoded.append(byte)
      }
    }
    return Array((decoded + blanks).prefix(limit))
  }

  /// The meaning of the bytes behind a `=`: a byte in two digits, or nil for the end of a line that goes on, and the place after it; nil if
  /// it is neither.
  private static func escape(in bytes: ArraySlice<UInt8>, at start: Int) -> (value: UInt8?, next: Int)? {
    if start + 1 < bytes.endIndex, let high = digit(bytes[start]), let low = digit(bytes[start + 1]) {
      return (high << 4 | low, start + 2)
    }
    var index = start
    while index < bytes.endIndex, [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains(bytes[index]) {
      index += 1
    }
    if index == bytes.endIndex { return (nil, index) }
    return bytes[index] == UInt8(ascii: "\n") ? (nil, index + 1) : nil
  }

  /// The value of a hexadecimal digit.
  static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// From the line `begin MODE NAME`, if there is one, to `end`.
  private static func uuencode(_ bytes: ArraySlice<UInt8>, _ limit: Int) -> [UInt8] {
    // One line at a time, because a list of all could be larger than the mail.
    var rest = startOfUuencode(bytes)
    var decoded = [UInt8]()
    while decoded.count < limit, let line = nextLine(&rest) {
      if line.starts(with: "end".utf8) { break }
      guard let first = line.first, (32...96).contains(first) else { continue }
      let count = Int((first - 32) & 63)
      // A blank at the end of a line may have been removed; what is missing is not made up.
      var (bits, held, left) = (UInt32(0), 0, count)
      for code in line.dropFirst() where left > 0 {
        bits = bits << 6 | UInt32((code &- 32) & 63)
        held += 6
        if held >= 8 {
          held -= 8
          decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
          left -= 1
        }
      }
    }
    return Array(decoded.prefix(limit))
  }

  /// The bytes in which `begin` is searched.
  private static let searched = 65_536

  /// The lines after the first `begin`; all without one.
  private static func startOfUuencode(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes.prefix(searched)
    while let line = nextLine(&rest) { if isBegin(line) { return bytes[rest.startIndex...] } }
    return bytes
  }

  /// Removes a line and its end, and returns it without the end. Empty lines are passed over.
  private static func nextLine(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let newline = UInt8(ascii: "\n")
    let (start, end) = bytes.withUnsafeBufferPointer { bytes in
      var start = 0
      while start < bytes.count, bytes[start] == newline { start += 1 }
      var end = start
      while end < bytes.count, bytes[end] != newline { end += 1 }
      return (start, end)
    }
    let line = bytes[(bytes.startIndex + start)..<(bytes.startIndex + end)]
    bytes = bytes[min(line.endIndex + 1, bytes.endIndex)...]
    return line.isEmpty ? nil : line
  }

  /// Whether a line is `begin 644 NAME`.
  static func isBegin(_ line: ArraySlice<UInt8>) -> Bool {
    guard line.starts(with: "begin ".utf8) else { return false }
    let mode = line.dropFirst(6).prefix { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
    return (3...4).contains(mode.count) && line.dropFirst(6 + mode.count).first == UInt8(ascii: " ")
  }
}
