import CKernel
import Foundation
import Glibc
import Messages

/// The status and output of a finished program.
package struct ChildEnd: Sendable {
  package enum Status: Sendable, Equatable {
    case exited(Int32)
    case killed(by: Int32)
  }

  package let status: Status
  /// Empty unless captured.
  package let output: CapturedOutput
  package let errors: CapturedOutput
}

extension ChildProgram {
  /// Runs the program on its own thread with `input` as standard input. The input is a file in memory, so it is never
  /// on disk, and a program that does not read it causes no error.
  ///
  /// - Parameters:
  ///   - capturesOutput: whether to keep the beginning and end of its output; otherwise it goes to `/dev/null`.
  ///   - endsGroup: whether to kill its remaining children. Nobody waits for them in either case.
  ///   - leash: ends it early.
  /// - Throws: as `start`.
  package func run(
    input: [UInt8], capturesOutput: Bool, endsGroup: Bool, on leash: ChildLeash
  ) async throws(DeliveryError) -> ChildEnd {
    let result: Result<ChildEnd, DeliveryError> = await withCheckedContinuation { continuation in
      let thread = Thread {
        continuation.resume(
          returning: Result { () throws(DeliveryError) in
            try runHere(input: input, capturesOutput: capturesOutput, endsGroup: endsGroup, on: leash)
          })
      }
      thread.name = "program"
      thread.stackSize = 1 << 18
      thread.start()
    }
    return try result.get()
  }

  private func runHere(
    input: [UInt8], capturesOutput: Bool, endsGroup: Bool, on leash: ChildLeash
  ) throws(DeliveryError) -> ChildEnd {
    let file = try memoryFile(with: input)
    defer { close(file) }
    var pipes: [OutputPipe] = []
    defer { for pipe in pipes { pipe.close() } }
    while capturesOutput, pipes.count < 2 {
      guard let pipe = OutputPipe() else { throw failure(errno) }
      pipes.append(pipe)
    }
    let child = try start([file, pipes.first?.theirs, pipes.last?.theirs])
    leash.attach(to: child)
    for pipe in pipes { pipe.closeTheirs() }
    let captured = read(pipes, until: child)
    let status = leash.wait(endsGroup: endsGroup)
    return ChildEnd(
      status: status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(by: status & 0x7F),
      output: captured.first ?? CapturedOutput(), errors: captured.last ?? CapturedOutput())
  }

  /// A file in memory with `bytes`, positioned at its start.
  private func memoryFile(with bytes: [UInt8]) throws(DeliveryError) -> Int32 {
    let file = ckernel_memory_file("input")
    guard file >= 0 else { throw failure(errno) }
    guard ckernel_write_all(file, bytes, bytes.count) else {
      let error = failure(errno)
      close(file)
      throw error
    }
    lseek(file, 0, SEEK_SET)
    return file
  }

  /// Reads the output until the program has ended. Remaining children may hold the pipes open.
  private func read(_ pipes: [OutputPipe], until child: pid_t) -> [CapturedOutput] {
    var captured = pipes.map { _ in CapturedOutput() }
    if pipes.isEmpty { return captured }
    let end = ckernel_watch_process(child)
    defer { if end >= 0 { close(end) } }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var waits = pipes.map { pollfd(fd: $0.ours, events: Int16(POLLIN), revents: 0) }
    waits.append(pollfd(fd: end, events: Int16(POLLIN), revents: 0))
    while true {
      if poll(&waits, nfds_t(waits.count), -1) < 0 && errno == EINTR { continue }
      let hasEnded = waits[pipes.count].revents != 0
      for index in pipes.indices where waits[index].fd >= 0 {
        // A pipe holds 64 KiB, so the program's own output is complete when it has ended.
        let count = Glibc.read(waits[index].fd, &buffer, buffer.count)
        if count > 0 { captured[index].add(buffer[..<count]) }
        if count == 0 { waits[index].fd = -1 }
      }
      // Without a process descriptor, the end of the pipes decides.
      if hasEnded || (end < 0 && waits.allSatisfy { $0.fd < 0 }) { return captured }
    }
  }
}

/// The non-blocking reading end of a program's output.
private final class OutputPipe {
  let ours: Int32
  private(set) var theirs: Int32

  init?() {
    var ends: [Int32] = [-1, -1]
    guard ckernel_pipe(&ends) == 0 else { return nil }
    (ours, theirs) = (ends[0], ends[1])
  }

  func closeTheirs() {
    if theirs >= 0 { Glibc.close(theirs) }
    theirs = -1
  }

  func close() {
    closeTheirs()
    Glibc.close(ours)
  }
}
