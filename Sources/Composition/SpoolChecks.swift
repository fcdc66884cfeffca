import Blocking
import Control
import DurableFiles
import Foundation
import Ledgers
import Messages
import SettingKit
import Settings
import Spooling

/// The checks of `photospool check` on this computer: spool, disk, ledger, daemon, darkroom, profile photos, sent texts,
/// the web page and hooks.
package struct SpoolChecks {
  /// A subject, and a check that says what is good about it or throws a sentence that says how to fix it.
  package typealias Check = (subject: String, run: () throws -> String)

  private let settings: Settings
  private let path: String

  package init(_ settings: Settings) {
    self.settings = settings
    path = settings.spool.directory
  }

  /// The checks in the order in which they are reported.
  ///
  /// - Parameter isNew: whether there is no spool yet.
  package func all(isNew: Bool) -> [Check] {
    let spool: [Check] =
      isNew
      ? [("spool \(path)", checkNew)]
      : [("spool \(path)", checkSpool), ("disk", checkDisk), ("ledger", checkLedger), ("daemon", checkDaemon)]
    let hooks = HookEvent.allCases.compactMap { event in
      settings.hooks.programs[event].map { program -> Check in
        ("hook \(event.rawValue)", { try Self.checkProgram(program) })
      }
    }
    let mail = MailChecks(settings: settings)
    return spool + [("darkroom", DarkroomProgram.probe), ("profile photos", profile), ("sent texts", texts)]
      + (isNew ? [] : [("requests of other users", sharing), ("web page", page)])
      + (isNew || !mail.isNeeded ? [] : [("mail", mail.run)]) + hooks
  }

  /// The outcomes of all checks of a spool in use, made on a thread of their own.
  package func outcomes() async throws -> [ControlReply.Outcome] {
    try await BlockingPool(label: "checks", threads: 1).run {
      all(isNew: false).map { check in
        do { return .init(check.subject, isDone: true, try check.run()) } catch { return .failed(check.subject, error) }
      }
    }
  }

  /// Checks the place where `run` will make the spool.
  private func checkNew() throws -> String {
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

  private func checkSpool() throws -> String {
    // A parent that others can write to lets them put another spool in this one's place.
    var parent = URL(fileURLWithPath: try Spool(opening: path).path)
    repeat {
      parent.deleteLastPathComponent()
      let permissions = try Directory(path: parent.path).entry().permissions
      if permissions & 0o002 != 0 && permissions & 0o1000 == 0 {
        throw Failure(.configuration, "\(parent.path) can be written by everybody; run `chmod o-w \(parent.path)`")
      }
    } while parent.path != "/"
    return "complete, on one filesystem"
  }

  private func checkDisk() throws -> String {
    let free = try FileManager.default.attributesOfFileSystem(forPath: path)[.systemFreeSize] as? Int ?? 0
    if free < 100_000_000 {
      let wait = free < Reserve.bytes ? ", and new requests wait in new/" : ""
      throw Failure(.configuration, "only \(sizeInWords(free)) are free\(wait); make room")
    }
    return "\(sizeInWords(free)) free"
  }

  private func checkLedger() throws -> String {
    try LedgerView(of: Spool(opening: path))?.checkIntegrity() ?? "none yet; the daemon makes it"
  }

  private func checkDaemon() throws -> String {
    let spool = try Spool(opening: path)
    guard let process = try spool.daemonProcess() else {
      let waits = try !spool.new.names().isEmpty || LedgerView(ifReadable: spool.state)?.hasWaiting() ?? false
      return waits ? "not running, and messages wait; start `photospool run`" : "not running"
    }
    do { _ = try ControlClient.ask(.progress, in: spool.state) } catch ControlError.noAnswer {
      throw Failure(.configuration, "runs and does not answer; look at its log and at process \(process)")
    }
    return "running, process \(process)"
  }

  /// Whether photospool can take what other users of the spool's group build, whatever their umask.
  private func sharing() throws -> String {
    do {
      guard let directory = try Spool(opening: path).firstWithoutAccess() else { return "taken, whatever their umask" }
      throw Failure(
        .configuration,
        "\(directory.path) has no default ACL that gives photospool what others build there; start the daemon again as the owner of \(directory.path), which sets it"
      )
    } catch let error as FileError where error.code == EOPNOTSUPP {
      return "only those built with `umask 007` or `photospool send` are taken, as this file system keeps no ACLs"
    }
  }

  /// Where profile photos go.
  func profile() -> String {
    guard let network = settings.profileNetwork else { return "none" }
    switch type(of: network.type).profilePhotos {
    case .perGroup:
      guard let group = settings.profile.conversation else {
        return "none, as the network \(network.name) has one for each group; `profile.conversation` can name a group"
      }
      return "in the conversation \(escaped(group.text)) on the network \(network.name), for its members"
    case .sealed: return "on the network \(network.name)"
    case .rejected:
      return "none, as the network \(network.name) has no place for them; `profile.network` can name another"
    case .open(let word):
      guard let store = settings.stores.first(where: { $0.name == network.store }), type(of: store.type).word == word
      else { return "none, as avatars on the network \(network.name) have to be in a store of type \(word)" }
      return "on the network \(network.name), NOT sealed: everybody can see avatars"
    }
  }

  private func texts() -> String {
    settings.texts == .drop
      ? "not kept" : "kept with their receipts, for \(DurationText.show(settings.janitor.receipts)), in \(path)/sent"
  }

  private func page() throws -> String { try PageCheck(spool: Spool(opening: path)).run() }

  private static func checkProgram(_ path: String) throws -> String {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue,
      access(path, X_OK) == 0
    else {
      throw Failure(.configuration, "\(path) cannot be run; install it, or make it executable")
    }
    return "runs \(path)"
  }
}

extension Spool {
  /// The process of the daemon that runs on the spool; nil when none does.
  func daemonProcess() throws -> String? {
    let lock = try FileLock("daemon.lock", in: state)
    if try lock.tryAcquire() {
      lock.release()
      return nil
    }
    return try lock.note().trimmingCharacters(in: .newlines)
  }
}
