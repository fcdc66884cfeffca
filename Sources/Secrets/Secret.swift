/// A text that only its use may see: it describes itself to nobody, not to a log, not to a debugger's dump.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  package init(_ text: String) { self.text = text }

  /// The text, for whoever signs or logs in with it. It belongs in no error, no log and no URL.
  package func reveal() -> String { text }

  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
