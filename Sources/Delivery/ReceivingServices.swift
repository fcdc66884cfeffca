import Control
import Messages
import Metrics
import ServiceLifecycle

/// The receiving of photos, which runs beside delivery on the same spool and ledger.
package protocol ReceivingServices: Sendable {
  /// They stop after intake, the last of them first, and before what they depend on.
  var services: [any Service] { get }
  /// How far downloads have come, 0 to 1, by message.
  var progress: [MessageID: Double] { get }
  /// Tries everything now that failed: it may have been mended.
  func hurry() async
  /// Stops all work on a conversation that is being purged.
  func release(_ conversation: ConversationID) async
  /// How listening goes: a network, whether it works, and a sentence.
  func report() async -> [ControlReply.Outcome]
  func metrics() async -> [MetricFamily]
}
