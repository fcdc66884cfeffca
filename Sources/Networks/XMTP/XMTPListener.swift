import Digests
import Messages

/// Listens to XMTP through the publishing co-process, which knows the meaning of positions from libxmtp's database. Its
/// answers are untrusted, and so are the messages in them.
package final class XMTPListener: Listener {
  package let name: String
  private let coProcess: CoProcess
  private let conversations: HeardConversations

  /// Seconds until an empty answer.
  static let patience = 25
  /// Messages per answer.
  static let mostHeard = 64

  /// - Parameter conversations: by XMTP address: `group:ID`, `dm:ID` or `dm:0xADDRESS`; others are `group:ID` or
  ///   `dm:ID`.
  package init(_ network: XMTPNetwork, conversations: HeardConversations) {
    name = network.name
    coProcess = network.coProcess
    self.conversations = conversations
  }

  /// - Throws: errors of the node and the identity; `network` if the process ended. The next call starts it again, with
  ///   a backoff.
  package func listen(
    after position: String?, deliver: @Sendable ([Arrival]) async throws -> Void
  ) async throws -> String {
    let named = conversations.named.map(\.address.text)
    let facts = try await coProcess.ask(
      "listen",
      ["after": position, "named": named, "others": conversations.others != nil, "wait": Self.patience])
    guard let heard = facts.heard, heard.count <= Self.mostHeard, let next = facts.position else {
      throw XMTPNetwork.incomplete
    }
    try await deliver(heard.compactMap(arrival))
    return next
  }

  /// nil for conversations that are not heard, and for invalid messages.
  private func arrival(_ heard: CoProcessAnswer.HeardMessage) -> Arrival? {
    guard XMTPNetwork.isID(heard.message), let content = [UInt8](base64: heard.content),
      let conversation = conversations.conversation(at: Address(unchecked: heard.conversation))
    else { return nil }
    return Arrival(
      conversation: conversation, message: heard.message, sender: heard.sender.flatMap { try? SenderID($0) },
      attachment: content)
  }
}
