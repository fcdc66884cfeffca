/// Splits output of another process into lines, in limited memory.
struct LineCutter {
  enum Line: Equatable {
    /// Without its newline.
    case whole([UInt8])
    /// The beginning of a line beyond the limit; the rest is skipped.
    case tooLong([UInt8])
  }

  private let limit: Int
  private var line: [UInt8] = []
  private var isPassingOver = false

  init(limit: Int) { self.limit = limit }

  /// The lines that end in `piece`, and one that has become too long.
  mutating func add(_ piece: ArraySlice<UInt8>) -> [Line] {
    var lines: [Line] = []
    var rest = piece
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n"))
      let part = rest[..<(end ?? rest.endIndex)]
      if !isPassingOver {
        let room = limit - line.count
        line += part.prefix(room)
        if part.count > room {
          lines.append(.tooLong(take()))
          isPassingOver = true
        } else if end != nil {
          lines.append(.whole(take()))
        }
      }
      guard let end else { break }
      isPassingOver = false
      rest = rest[(end + 1)...]
    }
    return lines
  }

  private mutating func take() -> [UInt8] {
    defer { line = [] }
    return line
  }
}
