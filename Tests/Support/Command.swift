import Foundation

/// What a finished process left: its exit status and all that it printed.
public struct CommandResult: Sendable {
  public let status: Int32
  public let output: String
  public let errors: String
}

/// Runs a program to its end. The output goes through files, so that no pipe can fill up and block.
public func run(
  _ arguments: [String], environment: [String: String] = [:], input: String? = nil
) throws -> CommandResult {
  let scratch = try TemporaryDirectory()
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = arguments
  process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  for name in ["out", "err"] { _ = FileManager.default.createFile(atPath: scratch.path(name), contents: nil) }
  process.standardOutput = FileHandle(forWritingAtPath: scratch.path("out"))
  process.standardError = FileHandle(forWritingAtPath: scratch.path("err"))
  if let input {
    try Data(input.utf8).write(to: URL(fileURLWithPath: scratch.path("in")))
    process.standardInput = FileHandle(forReadingAtPath: scratch.path("in"))
  } else {
    process.standardInput = FileHandle.nullDevice
  }
  try process.run()
  process.waitUntilExit()
  return CommandResult(
    status: process.terminationStatus,
    output: String(decoding: try Data(contentsOf: URL(fileURLWithPath: scratch.path("out"))), as: UTF8.self),
    errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: scratch.path("err"))), as: UTF8.self))
}

/// The Python interpreter that has the independent implementations, as `make test` sets it up.
public var python: String { ProcessInfo.processInfo.environment["PHOTOSPOOL_PYTHON"] ?? "python3" }

/// The path of a script in `Tests/Support/python`.
public func pythonScript(_ name: String) -> String {
  URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("python/\(name)").path
}
