import DurableFiles
import Foundation
import Hooks
import Ledgers
import Logging
import MailIntake
import Messages
import MetricText
import ServiceLifecycle
import Signalling
import SpoolMetering
import Supervision

/// Reports the daemon's state: metrics into a file for node_exporter, one line to the service manager. Reports follow
/// changes, with a pause in between; without changes nothing runs.
struct Reports: Service, HasCore {
  let core: DeliveryCore
  let startedAt: Timestamp
  let circuits: Circuits
  let reloads: InForce<ReloadOutcome>
  let hooks: HookLine?
  let mail: MailRoom?
  let owner: Owner?
  let manager: ServiceManager?
  private let bell = Bell()

  /// Signals a possible change. Costs almost nothing without a reader.
  func wake() {
    if manager != nil || plan.now.settings.metrics.textfile != nil { bell.ring() }
  }

  func run() async throws {
    ledger.onCommit { [self] in wake() }
    wake()
    await bell.serve {
      await report(isUp: true)
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: plan.now.settings.metrics.pause) }
    } failed: { _ in
      nil
    }
    await report(isUp: false)
  }

  private func report(isUp: Bool) async {
    if !isUp && plan.now.settings.metrics.textfile == nil { return }
    do {
      let counts = try await ledger.counts()
      if isUp { manager?.status(Self.status(counts, open: await circuits.open)) }
      guard let path = plan.now.settings.metrics.textfile else { return }
      let own = isUp ? await families() : []
      let families = SpoolMetrics.up(isUp) + SpoolMetrics.families(counts, plan.now.settings.cache) + own
      try Self.write(families.map(\.text).joined(), to: path)
    } catch {
      log.warning("the metrics are not written", metadata: ["error": "\(error)"])
    }
  }

  /// Writes the file atomically, without a sync: after a power cut a new one is written anyway.
  private static func write(_ text: String, to path: String) throws {
    let url = URL(fileURLWithPath: path)
    let directory = try Directory(path: url.deletingLastPathComponent().path)
    let bytes = Array(text.utf8)
    // Heartbeats also change the ledger's file, but not the report.
    if let file = try? directory.file(url.lastPathComponent), try file.contents(limit: bytes.count + 1) == bytes {
      return
    }
    // It does not end in `.prom`, so that nobody reads it half-written.
    let temporary = ".\(url.lastPathComponent).tmp"
    try directory.remove(temporary)
    let file = try directory.file(creating: temporary)
    try file.setPermissions(0o644)
    try file.write(bytes)
    try directory.replace(url.lastPathComponent, with: temporary)
  }

  static func status(_ counts: Counts, open: Set<String>) -> String {
    let waiting = counts.waiting.values.reduce(0, +)
    guard waiting > 0 else { return "Nothing waits." }
    let messages = counted(waiting, "message waits", "messages wait")
    let conversations = counted(counts.conversations, "conversation")
    let parked = open.isEmpty ? "" : "; left alone for now: \(open.sorted().joined(separator: ", "))"
    return "\(messages) in \(conversations)\(parked)."
  }
}
