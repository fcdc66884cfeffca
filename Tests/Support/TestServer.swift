import Foundation

/// A server in a script of `Tests/Support/python`, which prints its facts as one line of JSON.
package final class TestServer: Sendable {
  /// The server's facts, such as endpoint and keys.
  package let facts: [String: String]
  private let scratch: TemporaryDirectory
  private let line: ScriptLine

  /// Starts the script with its own directory and waits until it serves.
  ///
  /// - Parameter arguments: for the script, after the directory.
  package init(_ script: String, _ arguments: String...) throws {
    scratch = try TemporaryDirectory()
    line = try ScriptLine(script, [scratch.path] + arguments)
    facts = try JSONDecoder().decode([String: String].self, from: line.read())
  }

  /// Sends an order to the script and waits until it is done. One at a time.
  @discardableResult package func tell(_ order: String) throws -> [String: String] {
    try line.write(Data(order.utf8))
    return try JSONDecoder().decode([String: String].self, from: line.read())
  }

  /// A fact; empty if missing.
  package subscript(_ name: String) -> String { facts[name] ?? "" }
}
