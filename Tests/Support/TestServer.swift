import Foundation

/// A server of a script in `Tests/Support/python`. It tells its facts as one line of JSON.
package final class TestServer: Sendable {
  /// What the server said of itself: its endpoint, its keys.
  package let facts: [String: String]
  private let scratch: TemporaryDirectory
  private let line: ScriptLine

  /// Starts the script with a directory of its own and waits until it serves.
  ///
  /// - Parameter arguments: for the script, after the directory.
  package init(_ script: String, _ arguments: String...) throws {
    scratch = try TemporaryDirectory()
    line = try ScriptLine(script, [scratch.path] + arguments)
    facts = try JSONDecoder().decode([String: String].self, from: line.read())
  }

  /// Has the script do something that it takes orders for, and waits until it is done. One at a time.
  @discardableResult package func tell(_ order: String) throws -> [String: String] {
    try line.write(Data(order.utf8))
    return try JSONDecoder().decode([String: String].self, from: line.read())
  }

  /// One of the facts; a missing one is empty.
  package subscript(_ name: String) -> String { facts[name] ?? "" }
}
