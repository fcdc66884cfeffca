import FoundationEssentials
import Matrix
import Messages

/// A photo that somebody sent into a room.
struct MatrixArrival {
  /// The event's id.
  let message: String
  /// The user's id.
  let sender: SenderID?
  /// The event with what is the same whenever it is asked for, and in one way of writing it.
  let attachment: [UInt8]

  /// nil for all that is no photo of somebody else: texts, our own, what was redacted, changes of what was sent before.
  ///
  /// - Parameter account: whose own events are passed over.
  init?(_ event: JSONSlice, in room: String, account: String) {
    guard let event = event.decoded(as: JSONValue.self), event["type"]?.text == "m.room.message",
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
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let bytes = try? encoder.encode(JSONValue.object(kept)) else { return nil }
    attachment = Array(bytes)
  }

  /// A file is a photo by what its sender calls it; what it is, the darkroom finds out.
  private static func isPhoto(_ content: JSONValue) -> Bool {
    if content["m.relates_to"]?["rel_type"]?.text == "m.replace" { return false }
    switch content["msgtype"]?.text {
    case "m.image": return true
    case "m.file": return content["info"]?["mimetype"]?.text?.lowercased().hasPrefix("image/") ?? false
    default: return false
    }
  }
}
