import Messages
import Seals

/// Publishes on XMTP through libxmtp, in the co-process `photospool-xmtp`. All messages are sent as its one identity,
/// whatever the inbox.
///
/// XMTP makes its own ids, so a message is reserved first: libxmtp stores it with the keys in its encrypted database.
/// Published under that id it is in the group once, whatever is killed in between (see the co-process). A conversation
/// is `group:ID`, `dm:INBOX-ID` or `dm:0xADDRESS`.
///
/// Requests of one conversation run one after the other, those of several at the same time.
package final class XMTPNetwork: Network {
  /// The result of `standing`.
  package struct Standing: Sendable, Equatable {
    /// The inbox id of the registered identity.
    package let inbox: String
    /// The address of its account.
    package let address: String
    package let isReachable: Bool
    /// Whether the conversation can be published to; nil without one.
    package let knowsConversation: Bool?
    /// Why not.
    package let obstacle: String?
  }

  package let name: String
  package let takesBatches = false
  let coProcess: CoProcess
  private let endpoint: String
  private let turns = KeyedMutex()

  /// Starts nothing yet.
  ///
  /// - Parameter log: gets the lines of the co-process, escaped and limited.
  init(
    name: String = "xmtp", endpoint: String, _ program: CoProcessProgram, log: @escaping @Sendable (String) -> Void
  ) {
    self.name = name
    coProcess = CoProcess(program, log: log)
    self.endpoint = endpoint
  }

  package func admit(_ address: Address, sealedWith seal: SealKind) {}

  /// The id under which libxmtp has stored the message. A message that a killed co-process stored without an answer is
  /// never published.
  package func reserve(_ message: OutgoingMessage) async throws(DeliveryError) -> String? {
    if message.content.kind.isOfProfile { return try await reserveProfile(message) }
    let photo = try Self.sealed(message.content)
    let facts = try await askInTurn(
      message.address, "reserve",
      ["conversation": message.address.text, "text": message.content.text, "attachment": photo])
    guard let reserved = facts.reserved, Self.isID(reserved) else { throw Self.incomplete }
    return reserved
  }

  /// Publishes the reserved message, once.
  ///
  /// - Throws: `rejected` if libxmtp does not know the reserved id, because its database was restored or lost: only
  ///   people can tell then whether the message was sent. After `network`, `timeout` and other temporary errors the
  ///   outcome is unknown; the next call finds out.
  package func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    guard let reserved = message.reserved else {
      throw DeliveryError(.conflict, "no id was reserved on XMTP for this message; it is with the next attempt")
    }
    if let profile = ReservedProfile(reserved) { return try await publish(profile) }
    let photo = message.content.attachment
    return try await publish(reserved, in: message.address, photo: photo.map { ($0.width, $0.height) })
  }

  /// Publishes the reserved message, if necessary. Without a reservation it was never published.
  package func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting {
    guard let reserved = message.reserved else { return .absent }
    if let profile = ReservedProfile(reserved) { return .published(try await publish(profile)) }
    return .published(try await publish(reserved, in: message.address, photo: message.photo))
  }

  private func publish(
    _ reserved: String, in address: Address, photo size: (width: Int, height: Int)?
  ) async throws(DeliveryError) -> Publication {
    let facts = try await askInTurn(address, "publish", ["reserved": reserved])
    guard let moment = facts.publishedAt, (facts.attachment == nil) == (size == nil) else { throw Self.incomplete }
    return Publication(
      publishedAt: Timestamp(milliseconds: moment), remoteID: reserved,
      attachment: Self.attachment(facts.attachment, size: size))
  }

  package func check() async throws(DeliveryError) -> String {
    let standing = try await standing()
    guard standing.isReachable else {
      throw DeliveryError(.network, "the XMTP node at \(endpoint) does not answer; check the endpoint and its TLS")
    }
    return "publishes on XMTP as the inbox \(standing.inbox), the account \(standing.address)"
  }

  package func checkConversation(_ address: Address) async throws(DeliveryError) -> String? {
    let standing = try await standing(of: address)
    guard standing.knowsConversation == true else {
      throw DeliveryError(.roomGone, standing.obstacle ?? "the XMTP conversation cannot be published to")
    }
    return "can be published to on XMTP"
  }

  /// Registers the identity if necessary, and asks the endpoint.
  ///
  /// - Throws: why there is no identity: no key, a key of another inbox, a database of another key, or no network the
  ///   first time.
  package func standing(of address: Address? = nil) async throws(DeliveryError) -> Standing {
    let facts = try await coProcess.ask("check", ["conversation": address?.text])
    guard let inbox = facts.inbox, let address = facts.address, let isReachable = facts.reachable else {
      throw Self.incomplete
    }
    return Standing(
      inbox: escaped(inbox, limit: 500), address: escaped(address, limit: 500), isReachable: isReachable,
      knowsConversation: facts.conversation, obstacle: facts.obstacle.map { escaped($0, limit: 500) })
  }

  /// Ends the co-process and waits for it. Nothing can be published after that.
  package func stop() async { await coProcess.stop() }

  /// Asks the co-process, after the requests before it in the conversation.
  func askInTurn(
    _ address: Address, _ verb: String, _ members: JSONObjectText
  ) async throws(DeliveryError) -> CoProcessAnswer.Facts {
    try await turns.withLock(address.text) { () async throws(DeliveryError) in try await coProcess.ask(verb, members) }
  }

  // MARK: Photos

  /// The parameters of a photo; nil for a text.
  private static func sealed(_ content: OutgoingMessage.Content) throws(DeliveryError) -> JSONObjectText? {
    guard case .photo(let attachment) = content else { return nil }
    guard attachment.secret != nil, attachment.salt != nil, attachment.nonce != nil else {
      throw DeliveryError(.configError, "XMTP takes sealed photos only; set the seal of this conversation to xmtp")
    }
    try checkAddress(of: attachment)
    return attachment.members
  }

  static func checkAddress(of photo: Attachment) throws(DeliveryError) {
    guard photo.url.hasPrefix("https://") else {
      throw DeliveryError(
        .configError, "receivers on XMTP fetch photos from https:// addresses only; choose a store that gives them")
    }
  }

  /// The published attachment, perhaps with an earlier upload. Values that XMTP lacks are constant or come from the
  /// message.
  private static func attachment(
    _ sent: CoProcessAnswer.SentAttachment?, size: (width: Int, height: Int)?
  ) -> Attachment? {
    guard let sent, let size else { return nil }
    return Attachment(
      url: sent.url, contentDigest: sent.contentDigest, secret: sent.secret, salt: sent.salt, nonce: sent.nonce,
      scheme: sent.scheme, contentLength: sent.contentLength, filename: sent.filename, mimeType: "image/jpeg",
      width: size.width, height: size.height)
  }

  /// Whether the text is a message id of XMTP, in hexadecimal.
  static func isID(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
  }

  static let incomplete = DeliveryError(.network, "photospool-xmtp answered only in part; it is asked again")
}
