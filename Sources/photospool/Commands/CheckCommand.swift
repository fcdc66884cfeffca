import ArgumentParser
import Composition
import Control
import DurableFiles
import Foundation
import Messages
import Settings
import Spooling

struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check configuration, spool and destinations, and say how to fix each problem.",
    discussion: """
      It reads the configuration file as it stands. With --running, the daemon tests the destinations of the \
      configuration in force, with its own connections and secrets. Exit status 78 if something has to be fixed; with \
      --running, 69 if no daemon runs.
      """)

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object a line: subject, good, sentence.")
  var json = false

  @Flag(name: .long, help: "Have the running daemon test its destinations.")
  var running = false

  /// A line of `check --json`. Keys are never renamed once released.
  private struct Line: Encodable {
    let subject: String
    let good: Bool
    let sentence: String
  }

  func run() async throws {
    if running { return try askDaemon() }
    let settings = try options.settings()
    let path = settings.spool.directory
    // Before the first run, destinations are tested beside a temporary spool.
    let isNew = access(path, F_OK) != 0
    if !isNew { try expectAccess(to: path) }
    let scratch = isNew ? try ScratchSpool() : nil
    var problems = 0
    func tell(_ outcome: ControlReply.Outcome) {
      if !outcome.isDone { problems += 1 }
      let sentence = scratch.map { outcome.sentence.replacing($0.spool.path, with: path) } ?? outcome.sentence
      show(.init(outcome.subject, isDone: outcome.isDone, sentence))
    }
    tell(.init("configuration", isDone: true, "good"))
    for key in SettingsSchema.settings.map(\.key) where settings.origin(of: key) != .byDefault {
      if json {
        tell(.init(key, isDone: true, "from \(settings.origin(of: key))"))
      } else {
        print("  \(key) from \(settings.origin(of: key))")
      }
    }
    if settings.receiving.allowPrivate {
      Terminal.complain(
        "receiving.allowPrivate: photos of others are fetched from private networks and without encryption, and their "
          + "senders choose the addresses; set it to false unless all of them are trusted")
    }
    for check in SpoolChecks(settings).all(isNew: isNew) { tell(await .of(check.subject, check.run)) }
    if let spool = try? scratch?.spool ?? Spool(opening: path) {
      do { try await DestinationChecks(settings: settings, spool: spool, isNew: isNew).run(tell) } catch {
        tell(.failed("", error))
      }
    }
    if settings.cluster.isConfigured {
      do {
        let cluster = try ClusterCheck(settings)
        for outcome in await cluster.outcomes() { tell(outcome) }
        await cluster.close()
      } catch {
        tell(.failed("cluster", error))
      }
    }
    try expectNone(problems)
  }

  /// - Throws: `Failure` if the user may not see into the spool, so that every check would fail for the same reason.
  private func expectAccess(to path: String) throws {
    do { _ = try Spool(opening: path) } catch let error as FileError where error.isForbidden {
      throw Failure(
        .noPermission, "only the user that photospool runs as may check its spool (\(error)); run `check` as that user")
    } catch {
      // One of the checks tells it.
    }
  }

  private func askDaemon() throws {
    let spool = try options.openSpool()
    // The daemon itself ends a round in time.
    let reply = try ControlClient.ask(.check, in: spool.state, patience: DestinationChecks.patience + 60) {
      Terminal.complain("the daemon asks its destinations; waiting for their answers")
    }
    guard let reply else {
      throw Failure(
        .unavailable,
        "no daemon runs on \(escaped(spool.path)); start `photospool run`, or check the configuration without --running"
      )
    }
    for outcome in reply.outcomes { show(outcome) }
    try expectNone(reply.outcomes.filter { !$0.isDone }.count)
  }

  /// Prints an outcome. One without a subject is about the destinations.
  private func show(_ outcome: ControlReply.Outcome) {
    let (subject, sentence) = (outcome.subject, outcome.sentence)
    if json {
      try? printJSON(
        Line(subject: subject.isEmpty ? "destinations" : subject, good: outcome.isDone, sentence: sentence))
    } else {
      let line = subject.isEmpty ? sentence : "\(subject): \(sentence)"
      if outcome.isDone { print(line) } else { Terminal.complain(line) }
    }
  }

  private func expectNone(_ problems: Int) throws {
    if problems > 0 { throw Failure(.configuration, "\(counted(problems, "problem")) to fix") }
  }
}
