import Foundation

/// A server of a script in `Tests/Support/python`. It tells its facts as one line of JSON, and ends when its standard
/// input does: with this object or with the test's process, whatever becomes of that.
public final class TestServer: Sendable {
  /// What the server said of itself: its endpoint, its keys.
  public let facts: [String: String]
  private let scratch: TemporaryDirectory
  private let leash: FileHandle

  /// Starts the script with a directory of its own and waits until it serves.
  public init(_ script: String) throws {
    scratch = try TemporaryDirectory()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [python, pythonScript(script), scratch.path]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    leash = input.fileHandleForWriting
    var line = Data()
    while line.last != UInt8(ascii: "\n") {
      let piece = output.fileHandleForReading.availableData
      guard !piece.isEmpty else { throw TestServerError(script: script) }
      line += piece
    }
    facts = try JSONDecoder().decode([String: String].self, from: line)
  }

  deinit { try? leash.close() }

  /// One of the facts; a missing one is empty.
  public subscript(_ name: String) -> String { facts[name] ?? "" }
}

/// A server did not start; it says why on standard error.
struct TestServerError: Error {
  let script: String
}
