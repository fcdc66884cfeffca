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
    for (subject, check) in try checks(settings) + destinations(settings) {
      do { print("\(subject): \(try await check())") } catch {
        problems += 1
        Terminal.complain("\(subject): \(error)")
      }
    }
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
          do {
            return try LedgerView(in: Spool(opening: path).state).checkIntegrity()
          } catch LedgerError.missing {
            return "none yet; the daemon makes it"
          }
        }
      ),
      (
        "daemon",
        {
          let spool = try Spool(opening: path)
          let lock = try FileLock("daemon.lock", in: spool.state)
          if try lock.tryAcquire() {
            lock.release()
            return "not running"
          }
          return "running, process \(try lock.note().trimmingCharacters(in: .newlines))"
        }
      ),
      ("darkroom", { try DarkroomProgram.probe() }),
    ]
  }

  /// Every store and network is talked to.
  private func destinations(_ settings: Settings) throws -> [(String, () async throws -> String)] {
    let spool = try Spool(opening: settings.spool.directory)
    let destinations: Destinations
    do {
      destinations = try Connections(settings, spool: spool) { Terminal.complain($0) }.destinations()
    } catch {
      return [("destinations", { throw error })]
    }
    let stores = destinations.stores.map { store in ("store \(store.name)", { try await store.check() }) }
    let networks = settings.networks.compactMap { network in
      destinations.networks.first { $0.name == network.name }.map { found in
        (
          "network \(network.name)",
          {
            let answer: String
            do { answer = try await found.check() } catch {
              await found.stop()
              throw error
            }
            await found.stop()
            return "\(answer); \(Self.privacy(of: network))"
          }
        )
      }
    }
    return stores + networks
  }

  /// What is end-to-end, said honestly.
  private static func privacy(of network: NetworkSettings) -> String {
    let plain = network.isPlainHTTP ? "; the way there is NOT encrypted" : ""
    switch (network.seal, network.kind) {
    case (.unsealed, _): return "photos are NOT sealed: whoever reads the store sees them" + plain
    case (_, .matrix): return "photos are sealed, and the homeserver can read the keys" + plain
    case (_, .webhook), (_, .exec): return "photos are sealed, and the receiver gets the keys" + plain
    case (let seal, _): return "photos are sealed with \(seal.rawValue)" + plain
    }
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
