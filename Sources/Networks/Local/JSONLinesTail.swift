import DurableFiles
import Messages

/// The last lines of one conversation's file: where a message stands that a process which died may have published.
struct JSONLinesTail {
  /// Whole lines, each with its newline; the first may lack its beginning.
  private let bytes: ArraySlice<UInt8>

  /// Bytes that are looked at. The longest line, a text of the largest size with every byte escaped, fits well.
  private static let window = 1 << 20
  /// Lines that are looked back over. A run of texts may be in doubt of each conversation that has this file.
  private static let most = 1024
  private static let newline = UInt8(ascii: "\n")

  /// Reads the end of `file`, and first cuts off what is no line: bytes without a newline, which a kill or a full disk
  /// leaves, and lines with zeros, which a power cut leaves where the length reaches the disk before the data.
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

  /// What stands behind the last newline but the one that ends `bytes`.
  private static func lastLine(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let start = bytes.dropLast().lastIndex(of: newline).map { $0 + 1 } ?? bytes.startIndex
    return bytes[start...]
  }

  /// The line of `message`; nil when it is not among the last ones.
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
