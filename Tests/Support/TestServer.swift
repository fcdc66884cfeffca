import Foundation

/// A server of a script in `Tests/Support/python`. It tells its facts as one line of JSON, and ends when its standard
/// input does: with this object or with the test's process, whatever becomes of that.
public final class TestServer: Sendable {
  /// What the server said of itself: its endpoint, its keys.
  public let facts: [String: String]
  private let scratch: TemporaryDirectory
  private let leash: FileHandle
  private let answers: FileHandle

  /// Starts the script with a directory of its own and waits until it serves.
  ///
  /// - Parameter arguments: for the script, after the directory.
  public init(_ script: String, _ arguments: String...) throws {
    scratch = try TemporaryDirectory()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [python, pythonScript(script), scratch.path] + arguments
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    leash = input.fileHandleForWriting
    answers = output.fileHandleForReading
    guard let line = Self.line(from: answers) else { throw TestServerError(script: script) }
    facts = try JSONDecoder().decode([String: String].self, from: line)
  }

  /// Has the script do something that it takes orders for, and waits until it is done. One at a time.
  @discardableResult public func tell(_ order: String) throws -> [String: String] {
    try leash.write(contentsOf: Data("\(order)\n".utf8))
    guard let line = Self.line(from: answers) else { throw TestServerError(script: order) }
    return try JSONDecoder().decode([String: String].self, from: line)
  }

  private static func line(from handle: FileHandle) -> Data? {
    var line = Data()
    while line.last != UInt8(ascii: "\n") {
      let piece = handle.availableData
      guard !piece.isEmpty else { return nil }
      line += piece
    }
    return line
  }

  deinit { try? leash.close() }

  /// One of the facts; a missing one is empty.
  public subscript(_ name: String) -> String { facts[name] ?? "" }
}

/// A server did not start; it says why on standard error.
struct TestServerError: Error {
  let script: String
}
