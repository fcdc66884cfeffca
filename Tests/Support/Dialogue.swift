import Foundation

/// A script of `Tests/Support/python` that takes orders: one JSON object a line each way.
package final class Dialogue: Sendable {
  private let line: ScriptLine
  private let queue: DispatchQueue

  package init(_ script: String, _ arguments: [String] = []) throws {
    line = try ScriptLine(script, arguments)
    queue = DispatchQueue(label: script)
  }

  /// Sends an order and waits for its answer, on a thread of its own.
  package func order<Answer: Decodable & Sendable>(
    _ verb: String, _ members: [String: any Sendable] = [:], as answer: Answer.Type = [String: String].self
  ) async throws -> Answer {
    let order = try JSONSerialization.data(withJSONObject: members.merging(["do": verb]) { $1 })
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Result {
            try self.line.write(order)
            return try JSONDecoder().decode(Answer.self, from: self.line.read())
          })
      }
    }
  }
}
