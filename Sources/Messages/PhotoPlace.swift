/// The place of a photo in the cache.
package struct PhotoPlace: Hashable, Sendable {
  package let inbox: InboxID
  package let conversation: ConversationID
  package let message: MessageID

  package init(inbox: InboxID, conversation: ConversationID, message: MessageID) {
    self.inbox = inbox
    self.conversation = conversation
    self.message = message
  }
}
