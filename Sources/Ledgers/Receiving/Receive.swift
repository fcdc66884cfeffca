import Digests
import FoundationEssentials
import GRDB
import Messages

/// A received message with photos.
package struct NewReceived: Sendable {
  package let inbox: InboxID
  package let conversation: ConversationID
  /// The message's id on its network.
  package let remote: String
  /// The sender; nil if unknown.
  package let sender: SenderID?
  package let digest: SHA256Digest
  /// Its photos in order, at least one.
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

  /// The id of its `position`-th photo here. It depends only on the bridge's data, so the same message gets the same
  /// id.
  package static func message(inbox: InboxID, remote: String, position: Int) -> MessageID {
    let source = "photospool received\n\(inbox)\n\(remote)\n\(position)\n"
    return MessageID(unchecked: [UInt8](SHA256Digest(of: Array(source.utf8)).bytes.prefix(16)).hex)
  }
}

/// The result of receiving a message.
package enum Reception: Sendable, Equatable {
  /// These photos are new; after a rebuild, perhaps only some of the message.
  case accepted([MessageID], ReceivedState)
  /// It was received before with the same contents.
  case known
  /// Its id was received before with other contents, which stay.
  case conflict
  /// Its conversation is being purged.
  case purged
}

extension Ledger {
  /// Records messages, each once per inbox and id. Keys are stored, because the message is published and an evicted
  /// photo must be opened again.
  ///
  /// - Parameter fetch: the policy if neither the conversation nor the inbox has one.
  package func receive(
    _ messages: [NewReceived], fetch: FetchPolicy, at now: Timestamp
  ) async throws -> [Reception] {
    try await write { database in try messages.map { try database.receive($0, fetch: fetch, at: now) } }
  }
}

extension Database {
  fileprivate func receive(_ new: NewReceived, fetch: FetchPolicy, at now: Timestamp) throws -> Reception {
    let messages = new.photos.indices.map {
      NewReceived.message(inbox: new.inbox, remote: new.remote, position: $0)
    }
    let conversation = try knownConversation(new.conversation)
    // A rebuild leaves rows with the local id alone.
    let rows = try all(
      ReceivedRow.self, "WHERE inbox = ? AND remote = ? OR message IN (SELECT value FROM json_each(?))", new.inbox,
      new.remote, String(decoding: Messages.json(messages.map(\.text)), as: UTF8.self))
    let theirs = rows.filter { !$0.isOwn }
    let areRepeated = theirs.allSatisfy { row in
      // A row rebuilt without its note has no digest.
      let hasDigest = row.digest.isEmpty || row.digest == new.digest.hex
      return hasDigest && row.inbox == new.inbox && row.conversationRow == conversation
    }
    // The id of a stranger's message may equal that of a sent photo that is fetched again.
    guard rows.isEmpty || !theirs.isEmpty, areRepeated else { return .conflict }
    let known = Set(theirs.map(\.message))
    for (position, message) in messages.enumerated() where known.contains(message) {
      try complete(message, new, position)
    }
    let missing = messages.indices.filter { !known.contains(messages[$0]) }
    return missing.isEmpty ? .known : try enter(new, missing, as: messages, fetch: fetch, at: now)
  }

  /// Inserts the missing photos of a message: all, or after a rebuild those that were not in the cache.
  private func enter(
    _ new: NewReceived, _ positions: [Int], as messages: [MessageID], fetch: FetchPolicy, at now: Timestamp
  ) throws -> Reception {
    let conversation = try conversation(new.conversation, now: now)
    let facts = try first(ConversationRow.self, "WHERE id = ?", conversation)
    if facts?.isPurged == true { return .purged }
    let preferences = try preferences(of: conversation)
    let isFetched = try (preferences.fetch ?? fetchPolicy(of: new.inbox) ?? fetch).fetches(
      fromKnown: facts?.isKnown == true)
    let state: ReceivedState = isFetched ? .wanted : .offered
    let isShown = preferences.showsArrivals
    for position in positions {
      let photo = new.photos[position]
      var row = ReceivedRow()
      row.message = messages[position]
      row.inbox = new.inbox
      row.conversationRow = conversation
      row.remote = new.remote
      row.position = position
      row.sender = new.sender
      row.digest = new.digest.hex
      row.attachment = try photo.json()
      row.state = state
      row.host = photo.host
      row.receivedAt = now
      row.wantedAt = isFetched ? now : nil
      row.revealedAt = isShown ? now : nil
      try insert(row)
    }
    try count("received", positions.count)
    return .accepted(positions.map { messages[$0] }, state)
  }

  /// Completes a row that was rebuilt from the cache, which lacks keys and perhaps the message's id on its network. The
  /// photo can then be fetched again after an eviction.
  private func complete(_ message: MessageID, _ new: NewReceived, _ position: Int) throws {
    try run(
      """
      UPDATE received SET remote = ?, position = ?, digest = ?, attachment = ?, host = ?, sender = coalesce(sender, ?)
      WHERE message = ? AND attachment = ? AND state = 'downloaded'
      """, new.remote, position, new.digest.hex, try new.photos[position].json(), new.photos[position].host,
      new.sender, message, LedgerSchema.lostAttachment)
  }
}

extension RemotePhoto {
  func json() throws -> String { String(decoding: try Messages.json(self), as: UTF8.self) }

  package init(json: String) throws { self = try JSONDecoder().decode(RemotePhoto.self, from: Data(json.utf8)) }
}
