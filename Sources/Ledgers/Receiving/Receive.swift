import Digests
import FoundationEssentials
import GRDB
import Messages

/// A message with photos that somebody sent, as it is written into the ledger.
package struct NewReceived: Sendable {
  package let inbox: InboxID
  package let conversation: ConversationID
  /// The message's id on its network.
  package let remote: String
  /// Who sent it; nil when nobody says.
  package let sender: SenderID?
  /// SHA-256 of the attachment as it was dropped.
  package let digest: SHA256Digest
  /// What it announces, in its order; at least one.
  package let photos: [RemotePhoto]

  package init(
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
  package static func message(inbox: InboxID, remote: String, position: Int) -> MessageID {
    let source = "photospool received\n\(inbox)\n\(remote)\n\(position)\n"
    return MessageID(unchecked: [UInt8](SHA256Digest(of: Array(source.utf8)).bytes.prefix(16)).hex)
  }
}

/// What became of a message that was dropped.
package enum Reception: Sendable, Equatable {
  /// These of its photos are new; after a ledger was made anew, that may be some of them.
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
  package func receive(
    _ messages: [NewReceived], fetch: FetchPolicy, at now: Timestamp
  ) async throws -> [Reception] {
    try await write { database in try messages.map { try database.receive($0, fetch: fetch, at: now) } }
  }
}

extension Database {
  fileprivate func receive(_ new: NewReceived, fetch: FetchPolicy, at now: Timestamp) throws -> Reception {
    let messages = new.photos.indices.map {
      NewReceived.message(inbox: new.inbox, remote: new.remote, position: $0).text
    }
    let rows = try received(like: new, as: messages)
    let theirs = rows.filter { $0["own"] == 0 }
    // A stranger's message may be called like a photo of ours, which is fetched again under its own id.
    guard rows.isEmpty || !theirs.isEmpty, theirs.allSatisfy({ $0.isRepeated(by: new) }) else { return .conflict }
    let known = Set(theirs.map { $0["message"] as String })
    for (position, message) in messages.enumerated() where known.contains(message) {
      try complete(message, new, position)
    }
    let missing = messages.indices.filter { !known.contains(messages[$0]) }
    return missing.isEmpty ? .known : try enter(new, missing, as: messages, fetch: fetch, at: now)
  }

  /// The rows of a message that was received before, also those of which only the id here was left to a ledger that was
  /// made anew.
  private func received(like new: NewReceived, as messages: [String]) throws -> [Row] {
    try Row.fetchAll(
      self,
      sql: """
        SELECT r.message, r.inbox, r.digest, r.own, c.conversation FROM received r
          JOIN conversations c ON c.id = r.conversation_id
        WHERE r.inbox = ? AND r.remote = ? OR r.message IN (\(databaseQuestionMarks(count: messages.count)))
        """,
      arguments: [new.inbox.text, new.remote] + StatementArguments(messages))
  }

  /// Enters those photos of a message that are not there: all of them, or those that were not in the cache when the ledger
  /// was made anew.
  private func enter(
    _ new: NewReceived, _ positions: [Int], as messages: [String], fetch: FetchPolicy, at now: Timestamp
  ) throws -> Reception {
    let conversation = try conversation(new.conversation, now: now)
    let facts = try Row.fetchOne(
      self, sql: "SELECT known, purged FROM conversations WHERE id = ?", arguments: [conversation])
    if facts?["purged"] == 1 { return .purged }
    let preferences = try preferences(of: conversation)
    let isFetched = try (preferences.fetch ?? fetchPolicy(of: new.inbox) ?? fetch).fetches(
      fromKnown: facts?["known"] == 1)
    let state: ReceivedState = isFetched ? .wanted : .offered
    let isShown = preferences.reveal.showsArrivals
    for position in positions {
      let photo = new.photos[position]
      try execute(
        sql: """
          INSERT INTO received (message, inbox, conversation_id, remote, position, sender, digest, attachment, state,
            host, received_at, wanted_at, revealed_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          messages[position], new.inbox.text, conversation, new.remote, position, new.sender?.text, new.digest.hex,
          try photo.json(), state.rawValue, photo.host, now.milliseconds, isFetched ? now.milliseconds : nil,
          isShown ? now.milliseconds : nil,
        ])
    }
    try count("received", positions.count)
    return .accepted(positions.map { MessageID(unchecked: messages[$0]) }, state)
  }

  /// Photos whose rows were made anew from the cache have no keys, and some not even the message's id on its network: a
  /// repetition brings them again, and whoever wants such a photo once it is evicted can have it.
  private func complete(_ message: String, _ new: NewReceived, _ position: Int) throws {
    try execute(
      sql: """
        UPDATE received SET remote = ?, position = ?, digest = ?, attachment = ?, host = ?, sender = coalesce(sender, ?)
        WHERE message = ? AND attachment = ? AND state = 'downloaded'
        """,
      arguments: [
        new.remote, position, new.digest.hex, try new.photos[position].json(), new.photos[position].host,
        new.sender?.text, message, LedgerSchema.lostAttachment,
      ])
  }
}

extension Row {
  /// Whether a row is of this very message. The digest of one that was made anew without its note is not known.
  fileprivate func isRepeated(by new: NewReceived) -> Bool {
    let digest: String = self["digest"]
    return self["inbox"] == new.inbox.text && self["conversation"] == new.conversation.text
      && (digest.isEmpty || digest == new.digest.hex)
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
