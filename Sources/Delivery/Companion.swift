import Control
import Messages
import Metrics
import ServiceLifecycle
import Spooling

/// What runs beside delivery on the same spool and ledger, and is told what concerns it: the receiving of photos.
public struct Companion: Sendable {
  /// They stop after intake, the last of them first, and before what they depend on.
  let services: [any Service]
  /// Something was seen in `incoming/new/`, or may have been missed there. It must return quickly.
  let post: @Sendable (SpoolEvent) -> Void
  /// A photo may be wanted now.
  let wake: @Sendable () -> Void
  /// What failed may have been mended, or may be reached now: it is to be tried again.
  let hurry: @Sendable () async -> Void
  /// Lets go of all that is in hand of a conversation that is being purged.
  let release: @Sendable (ConversationID) async -> Void
  /// How listening goes: a network, whether it works, and a sentence.
  let report: @Sendable () async -> [ControlReply.Outcome]
  let metrics: @Sendable () async -> [MetricFamily]
  /// How far downloads have come, by message.
  let progress: @Sendable () -> [MessageID: Double]

  public init(
    services: [any Service], post: @escaping @Sendable (SpoolEvent) -> Void, wake: @escaping @Sendable () -> Void,
    hurry: @escaping @Sendable () async -> Void, release: @escaping @Sendable (ConversationID) async -> Void,
    report: @escaping @Sendable () async -> [ControlReply.Outcome],
    metrics: @escaping @Sendable () async -> [MetricFamily],
    progress: @escaping @Sendable () -> [MessageID: Double]
  ) {
    self.services = services
    self.post = post
    self.wake = wake
    self.hurry = hurry
    self.release = release
    self.report = report
    self.metrics = metrics
    self.progress = progress
  }
}
