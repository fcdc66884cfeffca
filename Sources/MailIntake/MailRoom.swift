import Blocking
import Darkroom
import DurableFiles
import Logging
import MailParsing
import Messages
import ServiceLifecycle
import Settings
import Signalling
import Spooling
import Synchronization

/// Makes requests of the mails in `mail/new/` and drops them as any client does, one mail after the other. Nothing is
/// answered: a refused mail goes to `failed/`.
package final class MailRoom: Service {
  /// Mails since the start.
  package struct Counts: Sendable, Equatable {
    package var taken = 0
    package var refused: [MailRefusal.Reason: Int] = [:]
    package var dropped = 0

    /// The refused mails by the name of each reason there is.
    package var refusedByReason: [String: Int] {
      Dictionary(uniqueKeysWithValues: MailRefusal.Reason.allCases.map { ($0.rawValue, refused[$0] ?? 0) })
    }
  }

  /// The events of `mail/new/`.
  package let mailbox = Mailbox()
  private let taking: MailTaking
  private let settings: @Sendable () -> Settings
  private let pool = BlockingPool(label: "mail", threads: 1)
  /// Mails are taken one after the other, also for a purge.
  private let turn = AsyncMutex()
  private let isStopping = OneWayFlag()
  private let log: Logger
  private struct State {
    var counts = Counts()
    /// The last change of each mail that nobody may read.
    var unreadable: [[UInt8]: Int64] = [:]
    var allowance = MailAllowance()
  }
  private let state = Mutex(State())
  private let hasToldWaiting = InForce(false)
  private let isInTrouble = InForce(false)

  /// Seconds until the next attempt after an error.
  private static let patience = 1.0

  /// Makes the missing directories of `mail/`.
  ///
  /// - Parameters:
  ///   - program: the path of photospool-darkroom.
  ///   - idle: the pause between mails after which its process is ended.
  ///   - settings: the current ones.
  package init(
    spool: Spool, program: String, idle: Duration = .seconds(60), settings: @escaping @Sendable () -> Settings,
    log: Logger
  ) throws {
    taking = MailTaking(
      spool: spool, places: try MailPlaces(creatingIn: spool), reader: MailReader(program: program, idle: idle))
    self.settings = settings
    self.log = log
  }

  package var counts: Counts { state.withLock { $0.counts } }

  package func run() async throws {
    mailbox.postScan()
    let rescans = Task { [mailbox, settings] in
      while !Task.isCancelled {
        try await Task.sleep(for: settings().intake.rescan)
        mailbox.postScan()
      }
    }
    await mailbox.bell.serve(stopping: { [isStopping] in isStopping.set() }) {
      let seen = mailbox.take()
      // Of a name that is not UTF-8 the event does not tell the bytes.
      let needsScan = seen.needsScan || seen.hasVanished || seen.names.contains { $0.contains("\u{FFFD}") }
      try await take(needsScan ? nil : seen.names.map { Array($0.utf8) })
    } failed: { error in
      if !isInTrouble.replace(with: true) {
        log.error("mails are left in mail/new/ for now", metadata: ["error": "\(error)"])
      }
      mailbox.later(Self.patience) { $0.postScan() }
      return nil
    }
    rescans.cancel()
    taking.reader.close()
  }

  /// Takes all mails that are there, before a purge, however many a rule may take.
  ///
  /// - Throws: as `MailTaking.take`, if one is left.
  package func empty() async throws { try await take(nil, isPurge: true) }

  /// - Parameter arrived: the mails that have arrived; nil for all that are there.
  func take(_ arrived: [[UInt8]]?, isPurge: Bool = false) async throws {
    try await turn.withLock {
      let names = try await pool.run { [taking] in try arrived ?? taking.waiting() }
      if arrived == nil {
        let there = Set(names)
        state.withLock { state in
          state.allowance.keep(there)
          state.unreadable = state.unreadable.filter { there.contains($0.key) }
        }
      }
      var fault: (any Error)?
      for name in names where !isStopping.isSet {
        let settings = settings()
        let perHour = isPurge ? 0 : settings.mail.perHour
        guard name.first != UInt8(ascii: "."), !isKnownUnreadable(name),
          !state.withLock({ $0.allowance.isWaiting(name, perHour: perHour, now: .now) })
        else { continue }
        do {
          let outcome = try await pool.run { [self] in
            try taking.take(name, settings) { rules in
              state.withLock {
                $0.allowance.admit(name, for: rules, perHour: perHour, isScan: arrived == nil, now: .now)
              }
            }
          }
          if case .taken(_, _, let rules) = outcome {
            state.withLock { $0.allowance.took(rules, perHour: perHour, now: .now) }
          }
          tell(outcome, of: name)
        } catch {
          // A damaged mail does not delay others; a full disk does, and a parser that does not work.
          fault = fault ?? error
          if error is SpoolError || error is DeliveryError || (error as? FileError)?.isOutOfSpace == true { break }
        }
      }
      if let fault { throw fault }
    }
    if isInTrouble.replace(with: false) { log.info("mails are taken again") }
  }

  // MARK: Unreadable mails

  private func changed(_ name: [UInt8]) -> Int64? {
    do { return try taking.places.new.entry(bytes: name)?.changed } catch { return nil }
  }

  /// Whether a mail could not be read and has not changed since.
  private func isKnownUnreadable(_ name: [UInt8]) -> Bool {
    guard let known = state.withLock({ $0.unreadable[name] }) else { return false }
    if changed(name) == known { return true }
    state.withLock { $0.unreadable[name] = nil }
    return false
  }

  // MARK: Telling

  private func tell(_ outcome: MailTaking.Outcome, of name: [UInt8]) {
    let mail = Logger.MetadataValue("\(escaped(name: name))")
    switch outcome {
    case .taken(let requests, let leftOut, _):
      state.withLock { $0.counts.taken += 1 }
      hasToldWaiting.replace(with: false)
      var metadata: Logger.Metadata = ["mail": mail, "requests": "\(requests.joined(separator: " "))"]
      if !leftOut.isEmpty { metadata["without"] = "\(leftOut.joined(separator: " "))" }
      log.info("a mail became requests", metadata: metadata)
    case .dropped:
      state.withLock { $0.counts.dropped += 1 }
      log.info("a mail without a photo was dropped", metadata: ["mail": mail])
    case .refused(let failed, let refusal):
      state.withLock { $0.counts.refused[refusal.reason, default: 0] += 1 }
      log.warning(
        "a mail was refused", metadata: ["mail": mail, "kept": "failed/\(failed?.text ?? "")", "error": "\(refusal)"])
    case .unreadable(let sentence):
      let time = changed(name)
      state.withLock { $0.unreadable[name] = time }
      log.error("a mail cannot be read", metadata: ["mail": mail, "error": "\(sentence)"])
    case .waits:
      if !hasToldWaiting.replace(with: true) {
        log.warning("mails wait in mail/new/, because a rule took mail.perHour", metadata: ["mail": mail])
      }
    case .gone: break
    }
  }
}
