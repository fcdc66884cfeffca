import Foundation
import Synchronization

/// A script of `Tests/Support/python` that takes orders: one JSON object a line each way, one after the other. It ends
/// when its standard input does: with this object or with the test's process, whatever becomes of that.
public final class Dialogue: Sendable {
  private let script: String
  private let orders: FileHandle
  private let answers: FileHandle
  private let queue: DispatchQueue
  private let rest = Mutex(Data())

  public init(_ script: String, _ arguments: [String] = []) throws {
    self.script = script
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [python, pythonScript(script)] + arguments
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    (orders, answers) = (input.fileHandleForWriting, output.fileHandleForReading)
    queue = DispatchQueue(label: script)
  }

  deinit { try? orders.close() }

  /// Gives an order and waits for its answer, on a thread that no other test waits for.
  public func order<Answer: Decodable & Sendable>(
    _ verb: String, _ members: [String: any Sendable] = [:], as answer: Answer.Type = [String: String].self
  ) async throws -> Answer {
    let line = try JSONSerialization.data(withJSONObject: members.merging(["do": verb]) { $1 }) + Data("\n".utf8)
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Result {
            try self.orders.write(contentsOf: line)
            return try JSONDecoder().decode(Answer.self, from: self.readLine())
          })
      }
    }
  }

  private func readLine() throws -> Data {
    try rest.withLock { rest in
      while true {
        if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          defer { rest = Data(rest[(end + 1)...]) }
          return Data(rest[..<end])
        }
        let piece = answers.availableData
        guard !piece.isEmpty else { throw DialogueError(script: script) }
        rest += piece
      }
    }
  }
}

/// A script has ended; it says why on standard error.
struct DialogueError: Error {
  let script: String
}
