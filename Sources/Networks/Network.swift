import Messages
import Seals

/// The seam between a conversation's worker and whoever publishes its messages.
///
/// Within a conversation a network is asked for one message at a time, in order.
package protocol Network: Sendable {
  /// The network's word in the configuration, the log and the ledger.
  var name: String { get }

  /// Whether some texts may be in doubt after a crash, and not only one: then they begin in one commit. Only where our id is
  /// the idempotency key, and whoever is asked again under it knows it. false by default.
  var takesBatches: Bool { get }

  /// Asked before a photo for `conversation` is uploaded: refuses where it could not be published. By default it refuses
  /// nothing.
  func admit(_ conversation: ConversationID) async throws(DeliveryError)

  /// The seal that a profile photo for `conversation` needs, asked for before the photo is prepared. nil, as by default, is the
  /// route's seal.
  func profileSeal(for conversation: ConversationID) async throws(DeliveryError) -> (any Seal)?

  /// Asked with the text of a request before anything of it is published: refuses one that it could never publish. By
  /// default it refuses nothing.
  func admit(text: String) throws(DeliveryError)

  /// Whether `admit(text:)` refuses any text that a request may have. false by default.
  var limitsTexts: Bool { get }

  /// The id under which the network will know `message`, for a network that cannot be told ours: it makes ready what is
  /// to be published and keeps it, and publishes nothing. nil, as by default, where our own id is the idempotency key.
  ///
  /// Delivery commits the id to the ledger before it calls `publish` with it as `message.reserved`, and never reserves
  /// again what has one. So a crash before that commit leaves at most something that nobody ever publishes, and after a
  /// crash behind it `find` is asked with the same id. What is published under a reserved id is what was reserved: an
  /// earlier upload of a photo, perhaps, than the one at hand.
  func reserve(_ message: OutgoingMessage) async throws(DeliveryError) -> String?

  /// Publishes a message, effectively once for its id however often it is asked. When it returns, the message is
  /// published for good. With a `reserved` id, that is the id for which it is done once.
  ///
  /// A profile photo is set or removed instead: when it returns the new one is seen; when it throws, that or the old one.
  /// A network without profile photos throws `rejected`.
  func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication

  /// Looks for a message that may have been published: by a process that died, or under an id that was reserved. A
  /// network that keeps what it reserved publishes it now, if it was not.
  func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting

  /// Says what is good about the network, without publishing anything.
  ///
  /// - Throws: what is wrong and how to mend it.
  func check() async throws(DeliveryError) -> String

  /// Says what is good about a conversation there, without publishing anything. nil, as by default, where only a message
  /// can tell.
  ///
  /// - Throws: why messages to it would fail, in the words in which they would.
  func check(_ conversation: ConversationID) async throws(DeliveryError) -> String?

  /// Conversations that messages could be sent to and would not reach, each with the reason; none by default.
  func closedConversations() async throws(DeliveryError) -> [ClosedConversation]

  /// Ends what the network keeps running. Nothing is published after it.
  func stop() async
}

extension Network {
  package var takesBatches: Bool { false }

  /// Most networks keep nothing running.
  package func stop() async {}

  package func reserve(_ message: OutgoingMessage) async throws(DeliveryError) -> String? { nil }

  package func admit(_ conversation: ConversationID) async throws(DeliveryError) {}

  package func profileSeal(for conversation: ConversationID) async throws(DeliveryError) -> (any Seal)? { nil }

  package func admit(text: String) throws(DeliveryError) {}

  package var limitsTexts: Bool { false }

  package func check(_ conversation: ConversationID) async throws(DeliveryError) -> String? { nil }

  package func closedConversations() async throws(DeliveryError) -> [ClosedConversation] { [] }
}

/// A conversation that cannot be published to, by all names that lead there.
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
    /// The new profile photo of the inbox, in place of the one that it has.
    case profile(Attachment)
    /// The inbox has no profile photo any more.
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
  /// When the network was first asked to publish the message; nil is now. The outcome of that may not be known.
  package let firstTriedAt: Timestamp?
  /// What `reserve` gave for this message; nil before that, and where it gives nothing.
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

/// A message that the network was asked to publish, or has an id for, and whose outcome is not known.
package struct TriedMessage: Sendable {
  package let message: MessageID
  package let conversation: ConversationID
  package let inbox: InboxID
  /// When the network was first asked; nil when it was not.
  package let firstTriedAt: Timestamp?
  /// What `reserve` gave for it.
  package let reserved: String?
  /// Pixels of the upright photo; nil of a text.
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

/// That a message is published.
package struct Publication: Sendable, Equatable {
  package let publishedAt: Timestamp
  /// The network's own id of the message, where it gives one.
  package let remoteID: String?
  /// What really stands published of a photo: after a crash it may be an earlier upload than the last one.
  package let attachment: Attachment?
  /// The place where a profile photo was changed, on a network that has several; the photos in the others stay.
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
  /// It was surely not published.
  case absent
  /// The network cannot tell. Publishing again under the same id is then the way to find out.
  case unknown
}
