import Children
import Foundation
import Glibc

/// The exit status and output of a finished process.
package struct CommandResult: Sendable {
  package let status: Int32
  package let output: String
  package let errors: String
}

/// Runs a program to its end. Files take the output, because a full pipe would block.
package func run(
  _ arguments: [String], environment: [String: String] = [:], input: String? = nil
) throws -> CommandResult {
  let scratch = try TemporaryDirectory()
  try Data((input ?? "").utf8).write(to: URL(fileURLWithPath: scratch.path("in")))
  let files = [
    open(scratch.path("in"), O_RDONLY | O_CLOEXEC),
    open(scratch.path("out"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
    open(scratch.path("err"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
  ]
  defer { for file in files { close(file) } }
  let status = exitStatus(of: try inherited(arguments, environment).start(files))
  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: scratch.path(name))), as: UTF8.self)
  }
  return CommandResult(status: status, output: try text("out"), errors: try text("err"))
}

/// A program of `PATH` with our environment and additions.
func inherited(_ arguments: [String], _ environment: [String: String] = [:]) -> ChildProgram {
  let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  return ChildProgram(
    path: "/usr/bin/env", arguments: arguments, environment: variables.map { "\($0.key)=\($0.value)" })
}

/// Waits for a program's end. Returns its exit status, or the number of the signal that ended it, as Foundation does.
func exitStatus(of process: pid_t) -> Int32 {
  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0, errno == EINTR {}
  return status & 0x7F == 0 ? (status >> 8) & 0xFF : status & 0x7F
}

/// The Python interpreter with the independent implementations, from `make test`.
package var python: String { ProcessInfo.processInfo.environment["PHOTOSPOOL_PYTHON"] ?? "python3" }

package func pythonScript(_ name: String) -> String {
  URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("python/\(name)").path
}
