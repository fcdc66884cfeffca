import Ledgers
import Messages

@testable import Delivery

/// What the daemon knows and a kill takes.
struct Memory {
  /// A conversation that is being served, and the next step.
  struct Worker {
    let conversation: Int64
    var next: Step = .look
    /// What stood behind the messages in hand when those were looked for.
    var behind: [QueuedMessage] = []
    /// Messages that have begun, behind the one that the network has in hand.
    var begun: [Begun] = []
    /// Messages that the network has published, and the ledger does not know yet.
    var sent: [(message: QueuedMessage, publication: Publication)] = []
    /// Messages of this turn.
    var served = 0

    /// What the network is asked for, or may be before anybody can prevent it, in order.
    var inHand: [Begun] {
      guard case .publish(let message, let id) = next else { return [] }
      return [Begun(message: message, id: id)] + begun
    }
  }

  struct Begun {
    let message: QueuedMessage
    /// The id under which the network is told of it.
    let id: String
  }

  /// One transaction, or one thing that others see. A kill falls between two of them.
  enum Step {
    case look
    case find(QueuedMessage)
    case prepare(QueuedMessage)
    case put(QueuedMessage, object: String)
    case endUpload(QueuedMessage, object: String)
    case begin(QueuedMessage)
    case publish(QueuedMessage, id: String)
    /// Commits what was sent, and what was not tried; then a failure is settled.
    case end(QueuedMessage?, Failure?)
    case settle(QueuedMessage, Failure)

    var message: QueuedMessage? {
      switch self {
      case .look, .end: nil
      case .find(let message), .prepare(let message), .put(let message, _), .endUpload(let message, _),
        .begin(let message), .publish(let message, _), .settle(let message, _):
        message
      }
    }
  }

  struct Publication {
    let at: Timestamp
    let object: String?
    let remote: String?
  }

  struct Failure {
    let step: String
    var destination: String?
    let error: DeliveryError
    var wasTried = true
  }

  var workers: [Worker] = []
  /// Accepted, and still to be renamed into `cur/`.
  var entering: [World.Drop] = []
  /// Objects whose keys are here.
  var held: [MessageID: String] = [:]
  /// Ends of requests that are being filed.
  var filing: [Int64] = []
  var deleting: [AbandonedUpload] = []
  /// Purges that have begun.
  var purging: [PurgedConversation] = []
  /// Conversations that nothing enters.
  var closed: Set<String> = []
  /// Destinations that are left alone; the next one that asks may be a probe.
  var circuits: [String: (error: DeliveryError, hasTicket: Bool)] = [:]
  var refusals: [String: Refusals] = [:]

  func serves(_ conversation: Int64) -> Bool { workers.contains { $0.conversation == conversation } }
}
