/// A text that only its use may see: it describes itself to nobody, not to a log, not to a debugger's dump.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  public init(_ text: String) { self.text = text }

  /// The text, for whoever signs or logs in with it. It belongs in no error, no log and no URL.
  public func reveal() -> String { text }

  public var description: String { "(secret)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
