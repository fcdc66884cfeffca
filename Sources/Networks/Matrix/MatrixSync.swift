import Matrix

/// What a `/sync` told: where to go on, and what came into rooms.
struct MatrixSync {
  struct Timeline {
    let events: [JSONSlice]
    /// Where the events begin, when others came before them that the answer does not hold; nil when none did.
    let gapEnd: String?
  }

  let next: String
  let rooms: [(room: String, timeline: Timeline)]

  /// nil for what is no such answer. Rooms and events that are none are passed over.
  init?(_ answer: MatrixAnswer) {
    guard 200..<300 ~= answer.status, let body = answer.slice,
      let next = body["next_batch"]?.decoded(as: String.self)
    else { return nil }
    self.next = next
    rooms = (body["rooms"]?["join"]?.members ?? []).compactMap { room, value in
      guard let timeline = value["timeline"] else { return nil }
      let isLimited = timeline["limited"]?.decoded(as: Bool.self) ?? false
      return (
        room,
        Timeline(
          events: timeline["events"]?.elements ?? [],
          gapEnd: isLimited ? timeline["prev_batch"]?.decoded(as: String.self) : nil)
      )
    }
  }
}

/// How far an account was listened to.
struct MatrixPosition: CustomStringConvertible {
  let account: String
  let token: String

  init(account: String, token: String) {
    self.account = account
    self.token = token
  }

  /// nil when it is another account's.
  init?(_ text: String, account: String) {
    guard text.hasPrefix("\(account) "), text.count > account.count + 1 else { return nil }
    self.init(account: account, token: String(text.dropFirst(account.count + 1)))
  }

  var description: String { "\(account) \(token)" }
}
