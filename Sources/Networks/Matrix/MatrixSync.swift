import Matrix

/// An answer of `/sync`: the next position, and events in rooms.
struct MatrixSync {
  struct Timeline {
    let events: [JSONValue]
    /// The end of a gap before the events; nil without one.
    let gapEnd: String?
  }

  let next: String
  let rooms: [(room: String, timeline: Timeline)]

  /// nil for an invalid answer. Invalid rooms and events are skipped.
  init?(_ answer: MatrixAnswer) {
    guard 200..<300 ~= answer.status, let body = answer.json, let next = body["next_batch"]?.text else {
      return nil
    }
    self.next = next
    rooms = (body["rooms"]?["join"]?.members ?? [:]).sorted { $0.key < $1.key }.compactMap { room, value in
      guard let timeline = value["timeline"] else { return nil }
      let gapEnd = timeline["limited"] == .flag(true) ? timeline["prev_batch"]?.text : nil
      return (room, Timeline(events: timeline["events"]?.elements ?? [], gapEnd: gapEnd))
    }
  }
}

/// The position of listening to an account.
struct MatrixPosition: CustomStringConvertible {
  let account: String
  let token: String
  var description: String { "\(account) \(token)" }
}

extension MatrixPosition {
  /// nil if it belongs to another account.
  init?(_ text: String, account: String) {
    guard text.hasPrefix("\(account) "), text.count > account.count + 1 else { return nil }
    self.init(account: account, token: String(text.dropFirst(account.count + 1)))
  }
}
