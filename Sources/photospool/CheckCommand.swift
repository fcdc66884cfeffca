import ArgumentParser
import Delivery
import DurableFiles
import Foundation
import Ledgers
import Messages
import Settings
import Spooling

struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say what is wrong with configuration, spool and destinations, and how to mend it.",
    discussion: "Exit status 78 when something has to be mended.")

  @OptionGroup var options: SpoolOptions

  func run() async throws {
    let settings = try options.settings()
    print("configuration: good")
    for key in SettingsSchema.settings.map(\.key) where settings.origin(of: key) != .byDefault {
      print("  \(key) from \(settings.origin(of: key))")
    }
    guard access(settings.spool.directory, F_OK) == 0 else {
      return print("spool \(settings.spool.directory): none yet; `photospool run` makes it")
    }
    var problems = 0
    func report(_ subject: String?, _ check: () async throws -> String) async -> Bool {
      let subject = subject.map { "\($0): " } ?? ""
      do { print("\(subject)\(try await check())") } catch {
        problems += 1
        // The sentence is the one of the queue and of the log.
        Terminal.complain("\(subject)\((error as? DeliveryError)?.sentence ?? "\(error)")")
        return false
      }
      return true
    }
    if settings.receiving.allowPrivate {
      Terminal.complain(
        "receiving.allowPrivate: photos of others are fetched from private networks and without encryption, and their "
          + "senders choose the addresses; set it to false unless all of them are trusted")
    }
    for (subject, check) in checks(settings) + Self.furtherChecks(settings) { _ = await report(subject, check) }
    let destinations = DestinationChecks(settings: settings, spool: try Spool(opening: settings.spool.directory))
    await destinations.run(report)
    if problems > 0 { throw Failure(.configuration, "\(problems) thing\(problems == 1 ? "" : "s") to mend") }
  }

  /// What is looked at: a subject, and what is good about it or an error that says how to mend it.
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
            throw Failure(.configuration, "only \(Terminal.bytes(free)) are free; make room")
          }
          return "\(Terminal.bytes(free)) free"
        }
      ),
      (
        "ledger",
        {
          let ledger = try LedgerView(ifThereIsOneIn: Spool(opening: path).state)
          return try ledger?.checkIntegrity() ?? "none yet; the daemon makes it"
        }
      ),
      (
        "daemon",
        {
          let process = try Self.daemon(of: Spool(opening: path))
          return process.map { "running, process \($0)" } ?? "not running"
        }
      ),
      ("darkroom", { try DarkroomProgram.probe() }),
    ]
  }

  /// The process of the daemon that runs on a spool; nil when none does.
  static func daemon(of spool: Spool) throws -> String? {
    let lock = try FileLock("daemon.lock", in: spool.state)
    if try lock.tryAcquire() {
      lock.release()
      return nil
    }
    return try lock.note().trimmingCharacters(in: .newlines)
  }

  /// A parent that others can write to lets them put another spool in this one's place.
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
