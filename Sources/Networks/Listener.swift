import Messages

/// Listening to a network. Arrivals are dropped into `incoming/new/`, and only then is the position after them stored.
/// A process that dies in between hears the same again, and each message is received once, by its id.
package protocol Listener: AnyObject, Sendable {
  /// The network's name in the configuration.
  var name: String { get }

  /// Waits for messages after `position`, delivers them in the network's order, and returns the position after them.
  /// One call at a time.
  ///
  /// Without messages it returns after about half a minute with the current position, as a sign of life. Cancelling its
  /// task ends it at once.
  ///
  /// - Parameters:
  ///   - position: the result of an earlier call, perhaps of another process; nil for none. The listener checks that it
  ///     belongs to its account.
  ///   - deliver: stores arrivals durably. Called any number of times with a bounded part. Pass its errors on.
  /// - Returns: one line of at most 64 KiB.
  /// - Throws: `DeliveryError` if the network fails.
  func listen(
    after position: String?, deliver: @Sendable ([Arrival]) async throws -> Void
  ) async throws -> String
}

/// A received message with photos, as its network delivered it. It is untrusted.
package struct Arrival: Sendable, Equatable {
  /// The configured name of its conversation.
  package let conversation: ConversationID
  /// The message's id on its network.
  package let message: String
  /// The sender; nil if unknown or not a valid name.
  package let sender: SenderID?
  /// The contents of `attachment` in `incoming/new/`, the same bytes each time.
  package let attachment: [UInt8]
}
