import Matrix

/// An answer of `/sync`: the next position, events in rooms, and what concerns the device's keys.
struct MatrixSync {
  struct Timeline {
    let events: [JSONValue]
    /// The end of a gap before the events; nil without one.
    let gapEnd: String?
    /// Whether it shows that the room is encrypted.
    let isEncrypted: Bool
  }

  let next: String
  let rooms: [(room: String, timeline: Timeline)]
  /// Messages to the device. A homeserver sends a bounded number of them at once.
  let toDevice: [JSONValue]
  /// The one-time keys that the homeserver still has; a missing number is none.
  let oneTimeKeys: Int
  /// Whether the homeserver takes fallback keys and has no unused one.
  let needsFallback: Bool

  /// nil for an invalid answer. Invalid rooms and events are skipped.
  init?(_ answer: MatrixAnswer) {
    guard 200..<300 ~= answer.status, let body = answer.json, let next = body["next_batch"]?.text else {
      return nil
    }
    self.next = next
    rooms = (body["rooms"]?["join"]?.members ?? [:]).sorted { $0.key < $1.key }.compactMap { room, value in
      guard let timeline = value["timeline"] else { return nil }
      let gapEnd = timeline["limited"] == .flag(true) ? timeline["prev_batch"]?.text : nil
      let events = timeline["events"]?.elements ?? []
      let isEncrypted = (events + (value["state"]?["events"]?.elements ?? [])).contains { event in
        event["type"]?.text == "m.room.encrypted" || event["type"]?.text == "m.room.encryption"
      }
      return (room, Timeline(events: events, gapEnd: gapEnd, isEncrypted: isEncrypted))
    }
    toDevice = body["to_device"]?["events"]?.elements ?? []
    if case .whole(let count)? = body["device_one_time_keys_count"]?["signed_curve25519"] {
      oneTimeKeys = Int(clamping: count)
    } else {
      oneTimeKeys = 0
    }
    let unused = body["device_unused_fallback_key_types"]
    needsFallback = unused.map { !$0.elements.contains(.text("signed_curve25519")) } ?? false
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
