import Messages
import Seals

/// A network that publishes messages. Within a conversation it gets one message at a time, in order. The answers that keep
/// messages from being lost, doubled or disclosed have no default.
package protocol Network: Sendable {
  /// Its name in the configuration, the log and the ledger.
  var name: String { get }

  /// Whether several texts may be in doubt after a crash, so that they may begin in one commit. Only if our id is the
  /// idempotency key and the receiver recognises it.
  var takesBatches: Bool { get }

  /// Called before a photo for `address` is uploaded under a seal; throws if it could not be published.
  func admit(_ address: Address, sealedWith seal: SealKind) async throws(DeliveryError)

  /// Reserves the network's id of `message`, if the network chooses ids itself: it prepares and stores the message
  /// without publishing it. nil means that our own id is the idempotency key.
  ///
  /// Delivery commits the id to the ledger before it calls `publish` with it in `message.reserved`, and reserves each
  /// message once. A crash before that commit leaves at most a message that is never published. After a crash behind
  /// it, `find` gets the same id. The reserved message is the one that is published, perhaps with an earlier upload of
  /// the photo.
  func reserve(_ message: OutgoingMessage) async throws(DeliveryError) -> String?

  /// Publishes a message, effectively once per id (or per `reserved` id), however often it is called. When it returns,
  /// the message is published for good. For a profile photo: when it returns, the new one is set; when it throws, the
  /// old or the new one. A network without profile photos throws `rejected`.
  func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication

  /// Looks for a message that may have been published, by a process that died or under a reserved id. A network with
  /// reservations publishes it now if necessary.
  func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting

  /// Called after the ledger has committed that a message was published: what was stored for `find` may go. Does nothing
  /// by default.
  func forget(_ message: MessageID) async

  /// Tests the network without publishing. Returns a sentence.
  ///
  /// - Throws: the problem and its remedy.
  func check() async throws(DeliveryError) -> String

  /// Ends processes of the network. Nothing is published after that.
  func stop() async

  /// Removes what is stored for messages that are over, such as cancelled ones. Does nothing by default.
  ///
  /// - Parameter waiting: tells which of some messages are not over.
  func forgetEnded(_ waiting: @Sendable ([MessageID]) async throws -> Set<MessageID>) async throws

  /// Throws `rejected` for a text that can never be published at an address. Called with the text of a request before
  /// anything of it is published. nil, the default, means that every valid text can be.
  var textLimit: (@Sendable (String, Address) async throws(DeliveryError) -> Void)? { get }

  /// The seal of a profile photo for `address`, called before the photo is prepared. nil, the default, means the route's
  /// seal.
  func profileSeal(for address: Address) async throws(DeliveryError) -> (any Seal)?

  /// Tests a conversation without publishing. Returns a sentence; nil, the default, if only a message can tell.
  ///
  /// - Throws: the error that messages would get.
  func checkConversation(_ address: Address) async throws(DeliveryError) -> String?

  /// Conversations whose messages would be held, with reasons; none by default.
  func closedConversations() async throws(DeliveryError) -> [ClosedConversation]
}

extension Network {
  package var textLimit: (@Sendable (String, Address) async throws(DeliveryError) -> Void)? { nil }

  package func forgetEnded(_ waiting: @Sendable ([MessageID]) async throws -> Set<MessageID>) async throws {}

  package func profileSeal(for address: Address) async throws(DeliveryError) -> (any Seal)? { nil }

  package func forget(_ message: MessageID) async {}

  package func checkConversation(_ address: Address) async throws(DeliveryError) -> String? { nil }

  package func closedConversations() async throws(DeliveryError) -> [ClosedConversation] { [] }
}

/// A conversation whose messages would be held, with all its names.
package struct ClosedConversation: Sendable {
  package let names: [Address]
  package let error: DeliveryError
}

/// A message as a network gets it.
package struct OutgoingMessage: Sendable {
  package enum Content: Sendable {
    case photo(Attachment)
    case text(String)
    /// The new profile photo of the inbox.
    case profile(Attachment)
    /// The removal of the inbox's profile photo.
    case profileRemoval

    package var kind: MessageKind {
      switch self {
      case .photo: .photo
      case .text: .text
      case .profile: .profile
      case .profileRemoval: .profileRemoval
      }
    }

    package var attachment: Attachment? {
      switch self {
      case .photo(let attachment), .profile(let attachment): attachment
      case .text, .profileRemoval: nil
      }
    }
  }

  /// The idempotency key.
  package let message: MessageID
  package let request: String
  package let address: Address
  package let inbox: InboxID
  package let content: Content
  /// The time of the first attempt, whose outcome may be unknown; nil means now.
  package let firstTriedAt: Timestamp?
  /// The result of `reserve`, if any.
  package var reserved: String?

  package init(
    message: MessageID, request: String, address: Address, inbox: InboxID, content: Content,
    firstTriedAt: Timestamp? = nil
  ) {
    self.message = message
    self.request = request
    self.address = address
    self.inbox = inbox
    self.content = content
    self.firstTriedAt = firstTriedAt
  }
}

/// A message with an attempt or a reserved id, and an unknown outcome.
package struct TriedMessage: Sendable {
  package let message: MessageID
  package let address: Address
  /// The result of `reserve`.
  package let reserved: String?
  /// Pixels, upright; nil for a text.
  package let photo: (width: Int, height: Int)?

  package init(
    message: MessageID, address: Address, reserved: String? = nil, photo: (width: Int, height: Int)? = nil
  ) {
    self.message = message
    self.address = address
    self.reserved = reserved
    self.photo = photo
  }
}

/// A published message.
package struct Publication: Sendable, Equatable {
  package let publishedAt: Timestamp
  /// The network's own id of the message, if it gives one.
  package let remoteID: String?
  /// The published attachment; after a crash it may be an earlier upload than the last.
  package let attachment: Attachment?
}

/// A network's knowledge of a message that may have been published.
package enum Sighting: Sendable, Equatable {
  case published(Publication)
  /// It was certainly not published.
  case absent
  /// The network cannot tell; publish again under the same id.
  case unknown
}
