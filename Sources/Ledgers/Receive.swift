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
  /// SHA-256 of the attachment as it was dropped.
  public let digest: SHA256Digest
  /// What it announces, in its order; at least one.
  public let photos: [RemotePhoto]

  public init(
    inbox: InboxID, conversation: ConversationID, remote: String, digest: SHA256Digest, photos: [RemotePhoto]
  ) {
    self.inbox = inbox
    self.conversation = conversation
    self.remote = remote
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
        SELECT r.digest, c.conversation FROM received r JOIN conversations c ON c.id = r.conversation_id
        WHERE r.inbox = ? AND r.remote = ? AND r.own = 0 LIMIT 1
        """,
      arguments: [new.inbox.text, new.remote])
    {
      let isSame = row["digest"] == new.digest.hex && row["conversation"] == new.conversation.text
      return isSame ? .known : .conflict
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
          INSERT INTO received (message, inbox, conversation_id, remote, position, digest, attachment, state,
            host, received_at, wanted_at, revealed_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          message.text, new.inbox.text, conversation, new.remote, position, new.digest.hex, try photo.json(),
          state.rawValue, photo.host, now.milliseconds, isFetched ? now.milliseconds : nil,
          isShown ? now.milliseconds : nil,
        ])
      ids.append(message)
    }
    return .accepted(ids, state)
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
