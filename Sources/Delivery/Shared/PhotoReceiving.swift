import Control
import Messages
import MetricText
import Receiving
import ServiceLifecycle

/// The receiving of photos, beside delivery on the same spool and ledger.
package struct PhotoReceiving: Sendable {
  let receiver: Receiver
  let listeners: ListenerService

  package init(receiver: Receiver, listeners: ListenerService) {
    self.receiver = receiver
    self.listeners = listeners
  }

  /// They stop after intake, in reverse order, and before what they depend on.
  var services: [any Service] { [receiver, listeners] }

  func report() async -> [ControlReply.Outcome] { await Self.report(of: listeners) }

  /// The state of each listener: the network, whether it works, and a sentence.
  package static func report(of listeners: ListenerService) async -> [ControlReply.Outcome] {
    await listeners.state.map { .init($0.network, isDone: $0.failure == nil, $0.sentence()) }
  }

  /// The metrics of listening. Names and labels are never changed once released.
  func metrics() async -> [MetricFamily] {
    let reports = await listeners.state
    func by(_ value: (ListeningReport) -> Double?) -> [String: Double] {
      Dictionary(reports.compactMap { report in value(report).map { (report.network, $0) } }) { $1 }
    }
    if reports.isEmpty { return [] }
    return [
      MetricFamily(
        "photospool_listening", .gauge, "Whether a network is listened to; 0 while that fails.", by: "network",
        by { $0.failure == nil ? 1 : 0 }),
      MetricFamily(
        "photospool_listening_last_answer_timestamp_seconds", .gauge,
        "When a network that is listened to last answered; absent before the first answer.", by: "network",
        by { $0.answeredAt.map { Double($0.milliseconds) / 1000 } }),
      MetricFamily(
        "photospool_messages_heard_total", .counter,
        "Messages with photos that were heard on a network, repetitions included.", by: "network",
        by { Double($0.heard) }),
    ]
  }
}
