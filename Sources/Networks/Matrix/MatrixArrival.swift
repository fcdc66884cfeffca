import FoundationEssentials
import Matrix
import Messages

/// A received photo in a room.
struct MatrixArrival {
  /// The event's id.
  let message: String
  let sender: SenderID?
  /// The event without its variable parts, in one canonical form.
  let attachment: [UInt8]

  /// nil for anything but a photo of another user: texts, our own events, redacted ones, edits.
  ///
  /// - Parameter account: our own user.
  init?(_ event: JSONValue, in room: String, account: String) {
    guard event["type"]?.text == "m.room.message",
      event["state_key"] == nil, let sender = event["sender"]?.text, sender != account,
      let id = event["event_id"]?.text, let content = event["content"], Self.isPhoto(content)
    else { return nil }
    message = id
    self.sender = try? SenderID(sender)
    var kept: [String: JSONValue] = [
      "type": .text("m.room.message"), "room_id": .text(room), "sender": .text(sender), "event_id": .text(id),
      "content": content,
    ]
    kept["origin_server_ts"] = event["origin_server_ts"]
    guard let bytes = try? json(JSONValue.object(kept)) else { return nil }
    attachment = bytes
  }

  /// The sender's type decides; the darkroom checks it.
  private static func isPhoto(_ content: JSONValue) -> Bool {
    if content["m.relates_to"]?["rel_type"]?.text == "m.replace" { return false }
    switch content["msgtype"]?.text {
    case "m.image": return true
    case "m.file": return content["info"]?["mimetype"]?.text?.lowercased().hasPrefix("image/") ?? false
    default: return false
    }
  }
}
