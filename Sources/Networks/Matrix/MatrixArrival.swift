import Matrix
import Messages

extension Arrival {
  /// A received photo in a room; nil for anything else: texts, our own events, redacted ones, edits. The attachment is
  /// the event without its variable parts, in one canonical form.
  ///
  /// - Parameter account: our own user.
  init?(_ event: JSONValue, in room: String, as conversation: ConversationID, account: String) {
    guard event["type"]?.text == "m.room.message",
      event["state_key"] == nil, let sender = event["sender"]?.text, sender != account,
      let id = event["event_id"]?.text, let content = event["content"], Self.isPhoto(content)
    else { return nil }
    var kept: [String: JSONValue] = [
      "type": .text("m.room.message"), "room_id": .text(room), "sender": .text(sender), "event_id": .text(id),
      "content": content,
    ]
    kept["origin_server_ts"] = event["origin_server_ts"]
    guard let bytes = try? json(JSONValue.object(kept)) else { return nil }
    self.init(conversation: conversation, message: id, sender: try? SenderID(sender), attachment: bytes)
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
