import Darkroom
import Foundation
import Messages
import Photos
import TestSupport
import Testing

/// A pool and its program, identified by the program's path.
struct DarkroomUnderTest {
  static let realProgram = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("photospool-darkroom").path

  let directory: TemporaryDirectory
  let options: DarkroomPool.Options
  let pool: DarkroomPool
  var program: String { options.program }

  init(_ change: (inout DarkroomPool.Options) -> Void = { _ in }) throws {
    directory = try TemporaryDirectory()
    let program = directory.path("darkroom")
    try FileManager.default.createSymbolicLink(atPath: program, withDestinationPath: Self.realProgram)
    options = Self.options(program, change)
    pool = DarkroomPool(options)
  }

  /// Options without an idle timeout, unless a test sets one.
  private static func options(
    _ program: String, _ change: (inout DarkroomPool.Options) -> Void
  ) -> DarkroomPool.Options {
    var options = DarkroomPool.Options(program: program)
    options.processes = 2
    options.idleSeconds = 3600
    change(&options)
    return options
  }

  /// A shell script instead of the program, with `$directory` and `$real`, the real program.
  init(script: String, _ change: (inout DarkroomPool.Options) -> Void = { _ in }) throws {
    directory = try TemporaryDirectory()
    let program = directory.path("darkroom")
    let text = "#!/bin/sh\nPATH=/usr/bin:/bin\ndirectory='\(directory.path)' real='\(Self.realProgram)'\n\(script)\n"
    try Self.install("/dev/stdin", as: program, input: text)
    options = Self.options(program, change)
    pool = DarkroomPool(options)
  }

  /// Copies a program in another process: a file that this one has open for writing would be busy in its children.
  static func install(_ source: String, as program: String, input: String? = nil) throws {
    let result = try run(["install", "-m", "755", source, program], input: input)
    try #require(result.status == 0, "\(result.errors)")
  }

  func prepare(_ photo: PhotoBytes) async throws(DeliveryError) -> PreparedPhoto { try await pool.prepare(photo) }

  /// The error of a refused photo; a prepared photo fails the test.
  func refusal(of photo: PhotoBytes, at location: SourceLocation = #_sourceLocation) async -> DeliveryError? {
    do {
      let prepared = try await prepare(photo)
      Issue.record("it was prepared: \(prepared.width)x\(prepared.height)", sourceLocation: location)
      return nil
    } catch {
      return error
    }
  }

  /// The living child processes of this program. The kernel's lists of children may miss some, so all processes are
  /// read.
  var processes: [pid_t] {
    let all = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
    return all.filter { process in
      Self.text("/proc/\(process)/cmdline").split(separator: "\0").contains(Substring(program))
        && Self.text("/proc/\(process)/status").contains("\nPPid:\t\(getpid())\n")
    }
  }

  func process(at location: SourceLocation = #_sourceLocation) throws -> pid_t {
    let all = processes
    try #require(all.count == 1, sourceLocation: location)
    return all[0]
  }

  /// Inspects a process that has prepared a photo, below /proc, while it is idle.
  func inside<Found>(_ look: (String) throws -> Found) async throws -> Found {
    _ = try await prepare(Photographs.clouds())
    return try withExtendedLifetime(self) { try look("/proc/\(process())") }
  }

  /// A file of /proc, which has no size; empty when it is gone.
  static func text(_ path: String) -> String {
    guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else { return "" }
    return String(decoding: data, as: UTF8.self)
  }
}

/// Whether a process is gone and was waited for; a zombie still has its number.
func isGone(_ process: pid_t) -> Bool { kill(process, 0) != 0 && errno == ESRCH }

func eventually(
  _ what: String, within seconds: Double = 300, at location: SourceLocation = #_sourceLocation, _ isSo: () -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(seconds)
  while !isSo() {
    try #require(ContinuousClock.now < end, "not within \(seconds) s: \(what)", sourceLocation: location)
    try await Task.sleep(for: .milliseconds(2))
  }
}
