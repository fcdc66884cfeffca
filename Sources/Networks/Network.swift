import Messages
import Seals

/// A network that publishes messages. Within a conversation it gets one message at a time, in order.
package protocol Network: Sendable {
  /// Its name in the configuration, the log and the ledger.
  var name: String { get }

  /// Whether several texts may be in doubt after a crash, so that they may begin in one commit. Only if our id is the
  /// idempotency key and the receiver recognises it. false by default.
  var takesBatches: Bool { get }

  /// Called before a photo for `conversation` is uploaded; throws if it could not be published. By default it does
  /// nothing.
  func admit(_ conversation: ConversationID) async throws(DeliveryError)

  /// The seal of a profile photo for `conversation`, called before the photo is prepared. nil, the default, means the
  /// route's seal.
  func profileSeal(for conversation: ConversationID) async throws(DeliveryError) -> (any Seal)?

  /// Called with the text of a request before anything of it is published; throws if the text can never be published.
  /// By default it does nothing.
  func admit(text: String) throws(DeliveryError)

  /// Whether `admit(text:)` refuses any valid text. false by default.
  var limitsTexts: Bool { get }

  /// Reserves the network's id of `message`, if the network chooses ids itself: it prepares and stores the message
  /// without publishing it. nil, the default, means that our own id is the idempotency key.
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

  /// Tests the network without publishing. Returns a sentence.
  ///
  /// - Throws: the problem and its remedy.
  func check() async throws(DeliveryError) -> String

  /// Tests a conversation without publishing. Returns a sentence; nil, the default, if only a message can tell.
  ///
  /// - Throws: the error that messages would get.
  func check(_ conversation: ConversationID) async throws(DeliveryError) -> String?

  /// Conversations whose messages would be held, with reasons; none by default.
  func closedConversations() async throws(DeliveryError) -> [ClosedConversation]

  /// Ends processes of the network. Nothing is published after that.
  func stop() async
}

extension Network {
  package var takesBatches: Bool { false }

  package func stop() async {}

  package func reserve(_ message: OutgoingMessage) async throws(DeliveryError) -> String? { nil }

  package func admit(_ conversation: ConversationID) async throws(DeliveryError) {}

  package func profileSeal(for conversation: ConversationID) async throws(DeliveryError) -> (any Seal)? { nil }

  package func admit(text: String) throws(DeliveryError) {}

  package var limitsTexts: Bool { false }

  package func check(_ conversation: ConversationID) async throws(DeliveryError) -> String? { nil }

  package func closedConversations() async throws(DeliveryError) -> [ClosedConversation] { [] }
}

/// A conversation whose messages would be held, with all its names.
package struct ClosedConversation: Sendable {
  package let names: [ConversationID]
  package let error: DeliveryError

  package init(names: [ConversationID], error: DeliveryError) {
    self.names = names
    self.error = error
  }
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
  package let conversation: ConversationID
  package let inbox: InboxID
  package let content: Content
  /// The time of the first attempt, whose outcome may be unknown; nil means now.
  package let firstTriedAt: Timestamp?
  /// The result of `reserve`, if any.
  package var reserved: String?

  package init(
    message: MessageID, request: String, conversation: ConversationID, inbox: InboxID, content: Content,
    firstTriedAt: Timestamp? = nil
  ) {
    self.message = message
    self.request = request
    self.conversation = conversation
    self.inbox = inbox
    self.content = content
    self.firstTriedAt = firstTriedAt
  }
}

/// A message with an attempt or a reserved id, and an unknown outcome.
package struct TriedMessage: Sendable {
  package let message: MessageID
  package let conversation: ConversationID
  package let inbox: InboxID
  /// The time of the first attempt, if any.
  package let firstTriedAt: Timestamp?
  /// The result of `reserve`.
  package let reserved: String?
  /// Pixels, upright; nil for a text.
  package let photo: (width: Int, height: Int)?

  package init(
    message: MessageID, conversation: ConversationID, inbox: InboxID, firstTriedAt: Timestamp? = nil,
    reserved: String? = nil, photo: (width: Int, height: Int)? = nil
  ) {
    self.message = message
    self.conversation = conversation
    self.inbox = inbox
    self.firstTriedAt = firstTriedAt
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
  /// The place of the profile photo on a network with several; photos in others stay.
  package let profilePlace: String?

  package init(publishedAt: Timestamp, remoteID: String?, attachment: Attachment?, profilePlace: String? = nil) {
    self.publishedAt = publishedAt
    self.remoteID = remoteID
    self.attachment = attachment
    self.profilePlace = profilePlace
  }
}

/// What a network knows of a message that may have been published.
package enum Sighting: Sendable, Equatable {
  case published(Publication)
  /// It was certainly not published.
  case absent
  /// The network cannot tell; publish again under the same id.
  case unknown
}
