import Digests
import Matrix
import Olm

/// An encrypted event of a room's timeline: `m.room.encrypted` with Megolm.
package struct EncryptedEvent: Sendable {
  package let id: String
  package let room: String
  package let sender: String
  let session: String
  let message: MegolmMessage
  /// The event without its variable parts, to be kept and read again.
  let body: JSONValue

  /// A larger one is not kept: events have at most 64 KiB.
  static let mostBytes = 1 << 17

  /// nil for anything else, and for an edit.
  package init?(_ event: JSONValue, in room: String) {
    guard event["type"]?.text == "m.room.encrypted", event["state_key"] == nil, let id = event["event_id"]?.text,
      id.utf8.count <= 255, let sender = event["sender"]?.text, sender.utf8.count <= 255,
      let content = event["content"],
      content["algorithm"]?.text == "m.megolm.v1.aes-sha2", let session = content["session_id"]?.text,
      let ciphertext = content["ciphertext"]?.text, ciphertext.utf8.count <= Self.mostBytes,
      let bytes = [UInt8](base64: ciphertext), let message = try? MegolmMessage(bytes),
      // The relation is outside of the encryption.
      content["m.relates_to"]?["rel_type"]?.text != "m.replace"
    else { return nil }
    self.id = id
    self.room = room
    self.sender = sender
    self.session = session
    self.message = message
    var kept: [String: JSONValue] = [
      "type": .text("m.room.encrypted"), "event_id": .text(id), "sender": .text(sender),
      "content": .object([
        "algorithm": .text("m.megolm.v1.aes-sha2"), "session_id": .text(session), "ciphertext": .text(ciphertext),
      ]),
    ]
    kept["origin_server_ts"] = event["origin_server_ts"]
    body = .object(kept)
  }

  /// The event that was encrypted, as the sender's client made it.
  ///
  /// - Throws: `EventRefusal` if the content is none or was encrypted for another room.
  func decrypted(_ plain: [UInt8]) throws(EventRefusal) -> JSONValue {
    guard let payload = JSONValue(parsing: plain), let type = payload["type"], let content = payload["content"] else {
      throw EventRefusal("its content is not an event")
    }
    guard payload["room_id"]?.text == room else { throw EventRefusal("it was encrypted for another room") }
    var event = body.members
    event["type"] = type
    event["content"] = content
    return .object(event)
  }
}

/// Why an event is not opened and never will be: a part of a sentence.
package struct EventRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}
