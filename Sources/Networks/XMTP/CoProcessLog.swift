import Dispatch
import Messages

/// Logs standard error of a co-process: whole lines, escaped, limited in length and number per minute.
struct CoProcessLog {
  /// Lines per minute.
  static let mostInAMinute = 60

  private let tell: @Sendable (String) -> Void
  private var minute = DispatchTime.now()
  private var count = 0
  /// Its last line, which often explains its end.
  private(set) var lastWords = ""

  init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

  mutating func add(_ line: LineCutter.Line) {
    let bytes =
      switch line {
      case .whole(let bytes), .tooLong(let bytes): bytes
      }
    guard bytes.contains(where: { $0 != UInt8(ascii: " ") }) else { return }
    lastWords = escaped(String(decoding: bytes.prefix(2000), as: UTF8.self), limit: 500)
    let now = DispatchTime.now()
    if now > minute + .seconds(60) { (minute, count) = (now, 0) }
    count += 1
    if count <= Self.mostInAMinute { tell(lastWords) }
    if count == Self.mostInAMinute { tell("further lines are left out for this minute") }
  }
}
