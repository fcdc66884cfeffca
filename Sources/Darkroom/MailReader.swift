import Dispatch
import DurableFiles
import MailParsing
import Messages
import Photos
import Synchronization

/// Parses mails in a locked process of its own, which stays for the mails that follow: its start takes longer than a mail.
/// One that crashes, hangs, takes too much memory or sends an invalid answer is replaced, and its mail gets one more attempt.
package final class MailReader: Sendable {
  /// Bytes that the process may map beyond its initial ones.
  private static let memory = 256 << 20
  /// Processor time for a mail.
  private static let seconds = 10

  private struct State {
    var process: LockedProcess?
    /// Whether a mail came since the last look for a pause.
    var isUsed = false
    var isTidying = false
  }

  private let program: String
  private let idle: Duration
  /// Held while a mail is parsed: mails come one after the other.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - program: the path of photospool-darkroom.
  ///   - idle: the pause after which the process is ended. It may stay twice as long.
  package init(program: String, idle: Duration = .seconds(60)) { (self.program, self.idle) = (program, idle) }

  /// Parses a mail. Blocks.
  ///
  /// - Parameter limit: the most bytes of a mail.
  /// - Throws: `MailRefusal` if the mail is not to be taken; `DeliveryError` if no process can be started, or each one ends
  ///   whatever it is asked; `FileError`.
  package func index(of mail: File, limit: Int) throws -> MailIndex {
    let size = try mail.entry().size
    if size > limit {
      throw MailRefusal(.limit, "the mail has \(size) bytes; mail.bytes allows \(limit); send smaller photos")
    }
    return try state.withLock { state in
      var (attempts, death) = (0, Death.crashed)
      while attempts < 2 {
        let isFresh = state.process == nil
        let current = try state.process ?? started()
        state.process = nil
        switch ask(current, of: mail, limit: limit) {
        case .success(let bytes):
          if let answer = MailAnswer(encoded: bytes, size: size) {
            keep(current, &state)
            return try answer.result.get()
          }
          death = current.bury(.nonsense)
        case .failure(let cause): death = cause
        case nil:
          // One that was idle had ended before it saw the mail.
          guard isFresh else { continue }
          death = .crashed
        }
        attempts += 1
      }
      if death == .crashed { try checkProgram() }
      let sentence = death.sentence("parsing this mail", seconds: Self.seconds)
      throw MailRefusal(.parser, "\(sentence); let its sender send a simpler one")
    }
  }

  private func started() throws -> LockedProcess { try LockedProcess(program: program, "mail", memory: Self.memory) }

  private func ask(_ process: LockedProcess, of mail: File, limit: Int) -> Result<[UInt8], Death>? {
    var order = WireWriter()
    order.put(limit)
    return process.ask(order.bytes, file: mail.descriptor, limit: MailLimits.answerBytes, seconds: Self.seconds)
  }

  /// Has the program parse a mail that does no harm, so that no mail is refused for a fault of this computer.
  private func checkProgram() throws {
    let mail = try File(inMemory: Array("To: a@b\n\na\n".utf8))
    guard case .success? = ask(try started(), of: mail, limit: 1000) else {
      throw DeliveryError(.localResources, "\(program) does not work on this computer; install photospool again")
    }
  }

  private func keep(_ process: LockedProcess, _ state: inout State) {
    (state.process, state.isUsed) = (process, true)
    if !state.isTidying { tidyLater() }
    state.isTidying = true
  }

  /// Ends the process when no mail came meanwhile, and repeats while there is one.
  private func tidyLater() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + idle / .seconds(1)) { [weak self] in
      guard let self else { return }
      state.withLock { state in
        if !state.isUsed { state.process = nil }
        state.isUsed = false
        state.isTidying = state.process != nil
        if state.isTidying { self.tidyLater() }
      }
    }
  }

  /// Ends the process. Called when no more mails come.
  package func close() { state.withLock { $0.process = nil } }
}
