import ArgumentParser
import Composition
import Control
import DurableFiles
import Foundation
import Janitor
import Ledgers
import Messages
import Spooling

struct JanitorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "janitor",
    abstract: "Keep the spool within its limits, once: purges, limits, old files. Made for cron.",
    discussion: """
      Runs with or without a daemon, and prints nothing when all is well. An exceeded limit is reported once on \
      standard error, and again only after the cache was a tenth below it. While another janitor works it does nothing.
      """)

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Change nothing, and print what would be done.")
  var dryRun = false

  @Flag(name: .long, help: "Print what was done as one JSON object.")
  var json = false

  func run() async throws {
    umask(0o077)
    let (settings, spool) = try options.configured()
    var report = JanitorReport(dryRun: dryRun)
    // A rehearsal only reads, so it needs no lock.
    let turn = try dryRun ? nil : SpoolJanitor.turn(on: spool)
    if dryRun || turn != nil {
      defer { turn?.release() }
      // Without a ledger there is nothing to rehearse.
      if try !dryRun || spool.state.entry(Ledger.fileName) != nil {
        let reserve = Reserve(spool)
        if !dryRun { try reserve.give() }
        defer { if !dryRun { reserve.take() } }
        let ledger = try dryRun ? Ledger(of: spool, isClaimed: false) : Ledger.beside(daemonOf: spool)
        report = try await settings.makeJanitor(spool, ledger).pass(isRehearsal: dryRun)
        try ledger.close()
        // The daemon reports only its own changes, unless it is asked.
        if !dryRun { _ = try? ControlClient.ask(.metrics, in: spool.state) }
      }
    } else {
      report.skipped = true
    }
    for warning in report.warnings { Terminal.complain(warning) }
    if json {
      try printJSON(report)
    } else if dryRun {
      for line in report.lines { print("would \(line)") }
    }
  }
}

extension JanitorReport {
  /// The results, as ends of a sentence.
  fileprivate var lines: [String] {
    return [
      (purged.conversations, "purge \(counted(purged.conversations, "conversation"))"),
      (removed.tmp, "remove \(counted(removed.tmp, "abandoned entry", "abandoned entries")) of tmp/"),
      (removed.drafts, "cancel \(counted(removed.drafts, "draft")) left alone"),
      (removed.receipts, "forget at least \(counted(removed.receipts, "request")) with receipt"),
      (removed.failed, "forget at least \(counted(removed.failed, "failed request"))"),
      (removed.announced, "forget \(counted(removed.announced, "photo")) that others announced and nobody fetched"),
      (removed.orphans, "remove files of \(counted(removed.orphans, "photo")) that the ledger does not count"),
      (recounted, "count \(counted(recounted, "photo")) as missing"),
      (evicted.photos, "evict \(counted(evicted.photos, "photo"))"),
      (evicted.thumbnails, "evict the thumbnails of \(counted(evicted.thumbnails, "photo"))"),
      (evicted.bytes, "free \(sizeInWords(evicted.bytes)) of the cache"),
    ].filter { $0.0 > 0 }.map(\.1)
  }
}
