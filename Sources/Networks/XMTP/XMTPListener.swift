import Digests
import Messages

/// Listens to XMTP, through the co-process that publishes there.
///
/// It is asked again and again for what came behind a position, and keeps no word of its own: what a position means, the
/// co-process knows, from libxmtp's database. What an answer brings is a stranger's word, twice.
package final class XMTPListener: Listener {
  package let name: String
  private let coProcess: CoProcess
  private let conversations: HeardConversations

  /// Seconds after which an answer comes that brings nothing.
  static let patience = 25
  /// Messages of an answer.
  static let mostHeard = 64

  /// - Parameter conversations: those that are listened to, by their addresses as XMTP's have them: `group:ID`, `dm:ID`
  ///   or `dm:0xADDRESS`; the other ones are `group:ID` or `dm:ID`.
  package init(_ network: XMTPNetwork, conversations: HeardConversations) {
    name = network.name
    coProcess = network.coProcess
    self.conversations = conversations
  }

  /// - Throws: what the co-process says of the node, and of the identity; `network` when it ended before it answered. The
  ///   next call starts it again, after a while when it keeps on ending.
  package func listen(
    after position: String?, deliver: @Sendable ([Arrival]) async throws -> Void
  ) async throws -> String {
    let facts = try await coProcess.ask("listen") { request in
      if let position { request.add("after", position) }
      request.add("named", conversations.named.map(\.address))
      request.add("others", conversations.others != nil)
      request.add("wait", Self.patience)
    }
    guard let heard = facts.heard, heard.count <= Self.mostHeard, let next = facts.position else {
      throw DeliveryError(.network, "photospool-xmtp answered only in part; it is asked again")
    }
    try await deliver(heard.compactMap(arrival))
    return next
  }

  /// nil for what is not listened to, and for what is no message.
  private func arrival(_ heard: CoProcessAnswer.HeardMessage) -> Arrival? {
    guard XMTPNetwork.isID(heard.message), let content = [UInt8](base64: heard.content),
      let conversation = conversations.conversation(at: heard.conversation)
    else { return nil }
    return Arrival(
      conversation: conversation, message: heard.message, sender: heard.sender.flatMap { try? SenderID($0) },
      attachment: content)
  }
}
