import ArgumentParser
import Control
import Delivery
import DurableFiles
import Foundation
import Janitor
import Ledgers
import Messages
import Settings
import Spooling

struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say what is wrong with configuration, spool and destinations, and how to mend it.",
    discussion: "Exit status 78 when something has to be mended.")

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object a line: subject, good, sentence.")
  var json = false

  /// A line of `check --json`. Keys are never renamed once released.
  private struct Line: Encodable {
    let subject: String
    let good: Bool
    let sentence: String
  }

  func run() async throws {
    let settings = try options.settings()
    let path = settings.spool.directory
    // Before the first run, destinations are tested beside a temporary spool.
    let isNew = access(path, F_OK) != 0
    let scratch = isNew ? try ScratchSpool() : nil
    var problems = 0
    func tell(_ subject: String?, _ sentence: String, isGood: Bool = true) {
      let sentence = scratch.map { sentence.replacing($0.spool.path, with: path) } ?? sentence
      if json {
        try? printJSON(Line(subject: subject ?? "destinations", good: isGood, sentence: sentence))
      } else {
        let line = subject.map { "\($0): \(sentence)" } ?? sentence
        if isGood { print(line) } else { Terminal.complain(line) }
      }
    }
    func report(_ subject: String?, _ check: () async throws -> String) async -> Bool {
      do { tell(subject, try await check()) } catch {
        problems += 1
        // The same sentence as in the queue and the log.
        tell(subject, (error as? DeliveryError)?.sentence ?? "\(error)", isGood: false)
        return false
      }
      return true
    }
    tell("configuration", "good")
    for key in SettingsSchema.settings.map(\.key) where settings.origin(of: key) != .byDefault {
      if json {
        tell(key, "from \(settings.origin(of: key))")
      } else {
        print("  \(key) from \(settings.origin(of: key))")
      }
    }
    if settings.receiving.allowPrivate {
      Terminal.complain(
        "receiving.allowPrivate: photos of others are fetched from private networks and without encryption, and their "
          + "senders choose the addresses; set it to false unless all of them are trusted")
    }
    let own = isNew ? [("spool \(path)", { try Self.checkNew(path) })] : checks(settings)
    let darkroom: (String, () async throws -> String) = ("darkroom", { try DarkroomProgram.probe() })
    for (subject, check) in own + [darkroom] + Self.furtherChecks(settings) { _ = await report(subject, check) }
    if let spool = try? scratch?.spool ?? Spool(opening: path) {
      await DestinationChecks(settings: settings, spool: spool, isNew: isNew).run(report)
    }
    if problems > 0 { throw Failure(.configuration, "\(problems) thing\(problems == 1 ? "" : "s") to mend") }
  }

  /// The checks: a subject, and a function that returns a sentence or throws one with the remedy.
  private func checks(_ settings: Settings) -> [(String, () async throws -> String)] {
    let path = settings.spool.directory
    return [
      (
        "spool \(path)",
        {
          let spool = try Spool(opening: path)
          try Self.checkParents(of: spool.path)
          return "complete, on one filesystem"
        }
      ),
      (
        "disk",
        {
          let free = try FileManager.default.attributesOfFileSystem(forPath: path)[.systemFreeSize] as? Int ?? 0
          if free < 100_000_000 {
            let wait = free < Reserve.bytes ? ", and new requests wait in new/" : ""
            throw Failure(.configuration, "only \(Terminal.bytes(free)) are free\(wait); make room")
          }
          return "\(Terminal.bytes(free)) free"
        }
      ),
      (
        "ledger",
        {
          let ledger = try LedgerView(of: Spool(opening: path))
          return try ledger?.checkIntegrity() ?? "none yet; the daemon makes it"
        }
      ),
      (
        "daemon",
        {
          let spool = try Spool(opening: path)
          guard let process = try Self.daemon(of: spool) else { return "not running" }
          do { _ = try ControlClient.ask(.progress, in: spool.state) } catch ControlError.noAnswer {
            throw Failure(.configuration, "runs and does not answer; look at its log and at process \(process)")
          }
          return "running, process \(process)"
        }
      ),
    ]
  }

  /// Checks the place of a new spool.
  private static func checkNew(_ path: String) throws -> String {
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard access(parent, F_OK) == 0 else {
      throw Failure(
        .configuration, "there is none, and \(parent) is not there either; make that with `mkdir -p \(parent)`")
    }
    guard access(parent, W_OK | X_OK) == 0 else {
      throw Failure(
        .configuration, "there is none, and it cannot be made in \(parent); make it for the user of `photospool run`")
    }
    return "none yet; `photospool run` makes it"
  }

  /// The process id of the spool's daemon, if it runs.
  static func daemon(of spool: Spool) throws -> String? {
    let lock = try FileLock("daemon.lock", in: spool.state)
    if try lock.tryAcquire() {
      lock.release()
      return nil
    }
    return try lock.note().trimmingCharacters(in: .newlines)
  }

  /// Checks the parents: in one that others can write to, they can replace the spool.
  private static func checkParents(of path: String) throws {
    var parent = URL(fileURLWithPath: path).deletingLastPathComponent()
    while true {
      let permissions = try Directory(path: parent.path).entry().permissions
      if permissions & 0o002 != 0 && permissions & 0o1000 == 0 {
        throw Failure(.configuration, "\(parent.path) can be written by everybody; run `chmod o-w \(parent.path)`")
      }
      if parent.path == "/" { return }
      parent.deleteLastPathComponent()
    }
  }
}
