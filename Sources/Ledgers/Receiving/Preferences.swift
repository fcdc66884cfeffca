import GRDB
import Messages

package struct ConversationPreferences: Sendable, Equatable {
  /// nil means the inbox's, or else the configuration's.
  package var fetch: FetchPolicy?
  /// nil means off.
  package var autoReveal: Bool?
  /// One of its photos was revealed.
  package var hasRevealed = false

  package init() {}

  /// Whether a photo that arrives now is shown: never before one was revealed. Later changes do not affect it; only
  /// `reveal` shows it.
  package var showsArrivals: Bool { hasRevealed && autoReveal == true }

  enum Name: String, SQLiteValue {
    case fetch
    case autoReveal = "auto-reveal"
    case hasRevealed = "revealed"
  }
}

extension Ledger {
  /// Sets the values that are not nil. An unknown conversation is added.
  package func setPreferences(
    fetch: FetchPolicy?, autoReveal: Bool?, of conversation: ConversationID, at now: Timestamp
  ) async throws {
    try await write { database in
      let row = try database.conversation(conversation, now: now)
      if let fetch { try database.setPreference(.fetch, fetch.rawValue, of: row) }
      if let autoReveal { try database.setPreference(.autoReveal, autoReveal ? "on" : "off", of: row) }
    }
  }

  /// Sets the fetch policy of an inbox, which conversations can override.
  package func setFetchPolicy(_ policy: FetchPolicy, of inbox: InboxID) async throws {
    try await write { database in
      try database.run(
        "INSERT INTO inbox_preferences VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", inbox.text,
        ConversationPreferences.Name.fetch.rawValue, policy.rawValue)
    }
  }
}

extension LedgerView {
  /// The fetch policy of an inbox; nil means the configuration's.
  package func fetchPolicy(of inbox: InboxID) throws -> FetchPolicy? { try read { try $0.fetchPolicy(of: inbox) } }

  package func preferences(of conversation: String) throws -> ConversationPreferences {
    try read { database in
      try database.knownConversation(ConversationID(unchecked: conversation)).map { try database.preferences(of: $0) }
        ?? ConversationPreferences()
    }
  }
}

extension Database {
  func fetchPolicy(of inbox: InboxID) throws -> FetchPolicy? {
    try value(
      "SELECT value FROM inbox_preferences WHERE inbox = ? AND name = ?", inbox, ConversationPreferences.Name.fetch)
  }

  func preferences(of conversation: Int64) throws -> ConversationPreferences {
    var preferences = ConversationPreferences()
    let rows: [(ConversationPreferences.Name?, String)] = try all(
      "SELECT name, value FROM preferences WHERE conversation_id = ?", conversation
    ) { ($0["name"], $0["value"]) }
    for (name, value) in rows {
      switch name {
      case .fetch: preferences.fetch = FetchPolicy(rawValue: value)
      case .autoReveal: preferences.autoReveal = value == "on"
      case .hasRevealed: preferences.hasRevealed = true
      case nil: break
      }
    }
    return preferences
  }

  func setPreference(_ name: ConversationPreferences.Name, _ value: String, of conversation: Int64) throws {
    try run(
      "INSERT INTO preferences VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", conversation,
      name.rawValue, value)
  }
}
