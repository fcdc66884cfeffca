import Digests
import FoundationEssentials
import GRDB
import Messages

/// A message with photos that somebody sent, as it is written into the ledger.
public struct NewReceived: Sendable {
  public let inbox: InboxID
  public let conversation: ConversationID
  /// The message's id on its network.
  public let remote: String
  /// Who sent it; nil when nobody says.
  public let sender: SenderID?
  /// SHA-256 of the attachment as it was dropped.
  public let digest: SHA256Digest
  /// What it announces, in its order; at least one.
  public let photos: [RemotePhoto]

  public init(
    inbox: InboxID, conversation: ConversationID, remote: String, sender: SenderID? = nil, digest: SHA256Digest,
    photos: [RemotePhoto]
  ) {
    self.inbox = inbox
    self.conversation = conversation
    self.remote = remote
    self.sender = sender
    self.digest = digest
    self.photos = photos
  }

  /// The stable id of its `position`-th photo here: made of nothing but what the bridge says, so that the same message is
  /// the same photo.
  public static func message(inbox: InboxID, remote: String, position: Int) -> MessageID {
    let source = "photospool received\n\(inbox)\n\(remote)\n\(position)\n"
    return MessageID(unchecked: [UInt8](SHA256Digest(of: Array(source.utf8)).bytes.prefix(16)).hex)
  }
}

/// What became of a message that was dropped.
public enum Reception: Sendable, Equatable {
  case accepted([MessageID], ReceivedState)
  /// It was received before, with the same contents.
  case known
  /// Its id was received before, with other contents; those stay.
  case conflict
  /// Its conversation is being purged.
  case purged
}

extension Ledger {
  /// Writes messages down, each once for its inbox and id. Keys are kept from here on: the message is published, and its
  /// photo has to be opened again after it was evicted.
  ///
  /// - Parameter fetch: what is fetched, where neither the conversation's preferences nor the inbox's say anything.
  public func receive(
    _ messages: [NewReceived], fetch: FetchPolicy, at now: Timestamp
  ) async throws -> [Reception] {
    try await write { database in try messages.map { try database.receive($0, fetch: fetch, at: now) } }
  }
}

extension Database {
  fileprivate func receive(_ new: NewReceived, fetch: FetchPolicy, at now: Timestamp) throws -> Reception {
    if let row = try Row.fetchOne(
      self,
      sql: """
        SELECT r.digest, r.own, c.conversation FROM received r
          JOIN conversations c ON c.id = r.conversation_id
        WHERE r.inbox = ? AND r.remote = ? LIMIT 1
        """,
      arguments: [new.inbox.text, new.remote])
    {
      // A stranger's message may be called like a photo of ours, which is fetched again under its own id.
      guard row["own"] == 0, row["digest"] == new.digest.hex, row["conversation"] == new.conversation.text else {
        return .conflict
      }
      try complete(new)
      return .known
    }
    let conversation = try conversation(new.conversation, now: now)
    let facts = try Row.fetchOne(
      self, sql: "SELECT known, purged FROM conversations WHERE id = ?", arguments: [conversation])
    if facts?["purged"] == 1 { return .purged }
    let preferences = try preferences(of: conversation)
    let isFetched = try (preferences.fetch ?? fetchPolicy(of: new.inbox) ?? fetch).fetches(
      fromKnown: facts?["known"] == 1)
    let state: ReceivedState = isFetched ? .wanted : .offered
    let isShown = preferences.reveal.showsArrivals
    var ids = [MessageID]()
    for (position, photo) in new.photos.enumerated() {
      let message = NewReceived.message(inbox: new.inbox, remote: new.remote, position: position)
      try execute(
        sql: """
          INSERT INTO received (message, inbox, conversation_id, remote, position, sender, digest, attachment, state,
            host, received_at, wanted_at, revealed_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          message.text, new.inbox.text, conversation, new.remote, position, new.sender?.text, new.digest.hex,
          try photo.json(), state.rawValue, photo.host, now.milliseconds, isFetched ? now.milliseconds : nil,
          isShown ? now.milliseconds : nil,
        ])
      ids.append(message)
    }
    return .accepted(ids, state)
  }

  /// Photos whose rows were made anew from the cache have no keys: a repetition brings them again, and whoever wants such a photo
  /// once it is evicted can have it.
  private func complete(_ new: NewReceived) throws {
    for (position, photo) in new.photos.enumerated() {
      try execute(
        sql: """
          UPDATE received SET attachment = ?, host = ?, sender = coalesce(sender, ?)
          WHERE inbox = ? AND remote = ? AND position = ? AND attachment = ? AND state = 'downloaded'
          """,
        arguments: [
          try photo.json(), photo.host, new.sender?.text, new.inbox.text, new.remote, position,
          LedgerSchema.lostAttachment,
        ])
    }
  }
}

extension RemotePhoto {
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  init(json: String) throws { self = try JSONDecoder().decode(RemotePhoto.self, from: Data(json.utf8)) }
}
