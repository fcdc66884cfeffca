import DurableFiles
import Messages

/// The last lines of a conversation's file, which contain a message that a dead process may have published.
struct JSONLinesTail {
  /// Whole lines with their newlines, except perhaps the beginning of the first.
  private let bytes: ArraySlice<UInt8>

  /// Bytes to read. The longest line, a text of the largest size with every byte escaped, fits.
  private static let window = 1 << 20
  /// Lines to search. Each conversation with this file may have a batch of texts in doubt.
  private static let most = 1024
  private static let newline = UInt8(ascii: "\n")

  /// Reads the end of `file`, after cutting off invalid lines: bytes without a newline after a kill or on a full disk,
  /// and lines with zeros after a power cut.
  static func mended(of file: File) throws(FileError) -> JSONLinesTail {
    let size = try file.entry().size
    let start = max(0, size - window)
    let bytes = try file.bytes(from: start, count: size - start)
    let sound = soundPart(of: bytes)
    if sound.count < bytes.count {
      try file.truncate(to: start + sound.count)
      try file.sync()
    }
    return JSONLinesTail(bytes: sound)
  }

  private static func soundPart(of bytes: [UInt8]) -> ArraySlice<UInt8> {
    var sound = bytes[...]
    while let last = sound.last {
      let line = lastLine(of: sound)
      if last == newline && !line.contains(0) { break }
      sound = sound[..<line.startIndex]
    }
    return sound
  }

  /// The text after the last newline but one.
  private static func lastLine(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let start = bytes.dropLast().lastIndex(of: newline).map { $0 + 1 } ?? bytes.startIndex
    return bytes[start...]
  }

  /// The line of `message` among the last ones, if any.
  func line(of message: MessageID) -> LocalLine? {
    let opening = LocalLine.opening(of: message)
    var rest = bytes
    for _ in 0..<Self.most where !rest.isEmpty {
      let line = Self.lastLine(of: rest)
      if line.starts(with: opening), let found = LocalLine(line) { return found }
      rest = rest[..<line.startIndex]
    }
    return nil
  }
}
