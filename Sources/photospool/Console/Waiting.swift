import Composition
import Control
import DurableFiles
import Foundation
import Ledgers
import Messages
import Spooling

/// Waits for requests by polling the ledger, with progress on a terminal.
struct Waiting {
  let spool: Spool
  /// Whether the cluster's queue suffices.
  var untilRelayed = false

  private enum Outcome {
    case sent
    case failed(String)
    case unknown
  }

  /// Seconds between two polls.
  private static let interval = 0.1

  /// Returns when all of `names` are sent, or in the queue if that suffices.
  ///
  /// - Throws: `Failure` if one of them failed or is unknown, or when `timeout` seconds are over.
  func wait(for names: [String], timeout: Double? = nil) async throws {
    let end = timeout.map { ContinuousClock.now + .seconds($0) }
    var ledger: LedgerView?
    var waiting = names
    var looks = 0
    var held = Set<String>()
    defer { if Terminal.errorIsTerminal { Terminal.redraw("") } }
    while true {
      if ledger == nil { ledger = try LedgerView(ifReadable: spool.state) }
      while let name = waiting.first {
        switch try state(of: name, in: ledger) {
        case .sent: waiting.removeFirst()
        case .failed(let sentence): throw Failure(.unavailable, sentence)
        case .unknown: throw Failure(.noInput, "no request \(name) is known; see `photospool queue`")
        case nil:
          if Terminal.errorIsTerminal, let ledger { try draw(name, ledger) }
        }
        if waiting.first == name { break }
      }
      guard let name = waiting.first else { return }
      // Once a second, because it costs more than the other queries.
      looks += 1
      if looks == 1 { complainIfStopped(spool) }
      if looks % 10 == 2, let ledger, let conversation = try ledger.heldConversation(of: ledger.newest(name) ?? name),
        held.insert(conversation).inserted
      {
        Terminal.complain("\(escaped(conversation)) is held; this waits until `photospool release` lets it go on")
      }
      if let end, ContinuousClock.now >= end {
        throw Failure(.tryAgain, "the time is up and not everything is sent; delivery continues")
      }
      try await Task.sleep(for: .seconds(Self.interval))
    }
  }

  /// How the newest request of that name ended; nil until it has ended and its directory is at its final place.
  private func state(of name: String, in ledger: LedgerView?) throws -> Outcome? {
    // In the order of moves, so that none is missed.
    var request: String?
    for directory in [spool.draft, spool.new] {
      guard let entry = try entry(name, in: directory) else { continue }
      request = try ledger?.arriving(inode: entry.inode, born: entry.born)
      if request == nil { return nil }
    }
    request = try request ?? ledger?.newest(name)
    guard let request, let row = try ledger?.request(request) else {
      if try ledger == nil && RequestName(name) != nil && spool.cur.entry(name) != nil { return nil }
      if try entry(name, in: spool.sent) != nil { return .sent }
      if try entry(name, in: spool.failed) != nil { return .failed("\(name) failed; see failed/\(name)/error") }
      return .unknown
    }
    if untilRelayed, row.state == .queued {
      let states = try ledger?.messageStates(of: request) ?? []
      if !states.isEmpty, states.allSatisfy({ $0.state == .relayed || $0.state.isFinal }) { return .sent }
    }
    guard row.filed > 0 || row.state == .abandoned else { return nil }
    let subject = request == name ? name : "\(name) (\(request))"
    switch row.state {
    case .queued, .draft: return nil
    case .sent, .duplicate: return .sent
    case .cancelled, .abandoned: return .failed("\(subject) was cancelled")
    case .failed:
      // A retried request keeps its state until it is accepted, perhaps between the two queries.
      if RequestName(name) != nil {
        if let entry = try spool.new.entry(name), try ledger?.arriving(inode: entry.inode, born: entry.born) != request
        {
          return nil
        }
        // An immovable one stays there.
        if try spool.cur.entry(request) != nil && ledger?.request(request)?.filed != 2 { return nil }
      }
      if try ledger?.request(request)?.state != .failed { return nil }
      return .failed("\(subject) failed: \(try ledger?.request(request)?.error ?? "see failed/\(request)/error")")
    }
  }

  /// An entry under any name: one that no request may have is there, too, until the daemon refuses it.
  private func entry(_ name: String, in directory: Directory) throws -> Entry? {
    if RequestName(name) != nil { return try directory.entry(name) }
    return name.contains("/") || ["", ".", ".."].contains(name) ? nil : try? directory.entry(name)
  }

  private func draw(_ name: String, _ ledger: LedgerView) throws {
    let states = try ledger.messageStates(of: ledger.newest(name) ?? name)
    guard !states.isEmpty else { return Terminal.redraw("waiting to be accepted") }
    let uploads = try ControlClient.ask(.progress, in: spool.state)?.progress ?? [:]
    let shares = states.map { $0.state.share(upload: uploads[$0.message.text] ?? 0) }
    let share = shares.reduce(0, +) / Double(states.count)
    let columns = Terminal.size(of: STDERR_FILENO).columns
    let width = columns > 0 ? max(10, min(40, columns - 40)) : 40
    let current = states.firstIndex { !$0.state.isFinal } ?? states.count - 1
    Terminal.redraw(
      "\(Terminal.bar(share, width: width)) \(Int(share * 100)) %  \(current + 1) of \(states.count): \(states[current].state.rawValue)"
    )
  }
}

extension MessageState {
  /// The progress of a message, 0 to 1.
  func share(upload: Double) -> Double {
    switch self {
    case .pending: 0
    case .preparing: 0.1
    case .uploading: 0.2 + 0.6 * upload
    case .uploaded: 0.8
    case .publishing, .relayed: 0.9
    case .sent, .failed, .cancelled: 1
    }
  }
}
