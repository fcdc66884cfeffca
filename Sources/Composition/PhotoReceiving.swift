import Control
import Delivery
import Messages
import Metrics
import Receiving
import ServiceLifecycle

struct PhotoReceiving: ReceivingServices {
  let receiver: Receiver
  let listeners: ListenerService

  var services: [any Service] { [receiver, listeners] }
  var progress: [MessageID: Double] { receiver.progress }

  func hurry() async { await listeners.hurry() }
  func release(_ conversation: ConversationID) async { await receiver.release(conversation) }

  func report() async -> [ControlReply.Outcome] {
    await listeners.state.map { .init($0.network, isDone: $0.failure == nil, $0.sentence()) }
  }

  func metrics() async -> [MetricFamily] { await ListeningMetrics.families(listeners.state) }
}
