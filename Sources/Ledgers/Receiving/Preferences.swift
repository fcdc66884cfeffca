import GRDB
import Messages

/// What people prefer for one conversation, here and nowhere else.
package struct ConversationPreferences: Sendable, Equatable {
  /// Nil is the inbox's, and where that has none, the configuration's.
  package var fetch: FetchPolicy?
  /// Nil is off.
  package var autoReveal: Bool?
  /// A photo of it was revealed before.
  package var hasRevealed = false

  package init() {}

  package var reveal: RevealPolicy { RevealPolicy(hasRevealed: hasRevealed, isAutomatic: autoReveal ?? false) }

  /// The rows of the table `preferences`.
  enum Name: String {
    case fetch
    case autoReveal = "auto-reveal"
    case hasRevealed = "revealed"
  }
}

extension Ledger {
  /// Sets what is not nil; the rest stays. A conversation that is not known yet is remembered.
  package func setPreferences(
    fetch: FetchPolicy?, autoReveal: Bool?, of conversation: ConversationID, at now: Timestamp
  ) async throws {
    try await write { database in
      let row = try database.conversation(conversation, now: now)
      if let fetch { try database.setPreference(.fetch, fetch.rawValue, of: row) }
      if let autoReveal { try database.setPreference(.autoReveal, autoReveal ? "on" : "off", of: row) }
    }
  }
}

extension Ledger {
  /// Sets what is fetched of what comes to an inbox, where a conversation's preferences say nothing.
  package func setFetchPolicy(_ policy: FetchPolicy, of inbox: InboxID) async throws {
    try await write { database in
      try database.execute(
        sql: "INSERT INTO inbox_preferences VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
        arguments: [inbox.text, ConversationPreferences.Name.fetch.rawValue, policy.rawValue])
    }
  }
}

extension LedgerView {
  /// What is fetched of what comes to an inbox; nil is the configuration's.
  package func fetchPolicy(of inbox: InboxID) throws -> FetchPolicy? { try read { try $0.fetchPolicy(of: inbox) } }

  /// The preferences of a conversation; the defaults when none were set.
  package func preferences(of conversation: String) throws -> ConversationPreferences {
    try read { database in
      try Int64.fetchOne(
        database, sql: "SELECT id FROM conversations WHERE conversation = ?", arguments: [conversation]
      ).map { try database.preferences(of: $0) } ?? ConversationPreferences()
    }
  }
}

extension Database {
  func fetchPolicy(of inbox: InboxID) throws -> FetchPolicy? {
    try String.fetchOne(
      self, sql: "SELECT value FROM inbox_preferences WHERE inbox = ? AND name = ?",
      arguments: [inbox.text, ConversationPreferences.Name.fetch.rawValue]
    ).flatMap(FetchPolicy.init(rawValue:))
  }

  func preferences(of conversation: Int64) throws -> ConversationPreferences {
    var preferences = ConversationPreferences()
    let rows = try Row.fetchAll(
      self, sql: "SELECT name, value FROM preferences WHERE conversation_id = ?", arguments: [conversation])
    for row in rows {
      let value: String = row["value"]
      switch ConversationPreferences.Name(rawValue: row["name"]) {
      case .fetch: preferences.fetch = FetchPolicy(rawValue: value)
      case .autoReveal: preferences.autoReveal = value == "on"
      case .hasRevealed: preferences.hasRevealed = true
      case nil: break
      }
    }
    return preferences
  }

  func setPreference(_ name: ConversationPreferences.Name, _ value: String, of conversation: Int64) throws {
    try execute(
      sql: "INSERT INTO preferences VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
      arguments: [conversation, name.rawValue, value])
  }
}
