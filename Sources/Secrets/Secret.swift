/// A text that does not appear in descriptions, logs or debugger dumps.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  package init(_ text: String) { self.text = text }

  /// The text, for signing or logging in. It must not enter an error, a log or a URL.
  package func reveal() -> String { text }

  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
