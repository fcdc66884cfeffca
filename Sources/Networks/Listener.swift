import Messages

/// The seam between receiving and a network that is listened to.
///
/// What a listener hears is dropped into `incoming/new/` by whoever asks it; only then is the position behind it kept. So
/// a process that dies in between hears the same again, and nothing is lost. What is heard twice is received once, by its
/// message's id.
package protocol Listener: AnyObject, Sendable {
  /// The network's name in the configuration.
  var name: String { get }

  /// Waits for what comes behind `position`, hands it over in the network's order, and returns the position behind it.
  /// Asked one call at a time.
  ///
  /// It returns also when nothing came for about half a minute, with whatever position is right then, so that it is known
  /// to be alive. When its task is cancelled it ends at once.
  ///
  /// - Parameters:
  ///   - position: what an earlier call returned, of this process or one before it; nil when there was none. The listener
  ///     has to see itself whether it is one of its account's.
  ///   - deliver: keeps what it is given for good, any number of times, a bounded part at a time. What it throws has to
  ///     be thrown on.
  /// - Returns: one line of at most 64 KiB.
  /// - Throws: `DeliveryError` when the network fails, with what that means for whoever goes on listening.
  func listen(
    after position: String?, deliver: @Sendable ([Arrival]) async throws -> Void
  ) async throws -> String
}

/// A message with photos that somebody sent, as its network delivered it. It is a stranger's word.
package struct Arrival: Sendable, Equatable {
  /// What its conversation is called here.
  package let conversation: ConversationID
  /// The message's id on its network.
  package let message: String
  /// Who sent it; nil when the network does not say so in words that can be kept.
  package let sender: SenderID?
  /// What `attachment` of `incoming/new/` may hold, the same bytes however often it is heard.
  package let attachment: [UInt8]

  package init(conversation: ConversationID, message: String, sender: SenderID?, attachment: [UInt8]) {
    self.conversation = conversation
    self.message = message
    self.sender = sender
    self.attachment = attachment
  }
}
