import Control
import Messages
import MetricText
import ServiceLifecycle

/// The receiving of photos, beside delivery on the same spool and ledger.
package protocol ReceivingServices: Sendable {
  /// They stop after intake, in reverse order, and before what they depend on.
  var services: [any Service] { get }
  /// Download progress by message, 0 to 1.
  var progress: [MessageID: Double] { get }
  /// Retries everything that failed.
  func hurry() async
  /// Stops all work on a conversation that is being purged.
  func release(_ conversation: ConversationID) async
  /// The state of each listener: the network, whether it works, and a sentence.
  func report() async -> [ControlReply.Outcome]
  func metrics() async -> [MetricFamily]
}
