import Messages

/// The filter of a `/sync`: messages of the rooms that are listened to, and nothing else. Source: Matrix specification,
/// client-server API, filtering.
struct MatrixFilter {
  /// nil means all rooms of the account.
  let rooms: [String]?
  /// Messages per room in one answer.
  let limit: Int

  /// The types of photo events, in the clear and encrypted, and of the states that begin encryption and end a room.
  private static let types = ["m.room.message", "m.room.encrypted", "m.room.encryption", "m.room.tombstone"]

  var description: String {
    let nothing: JSONObjectText = ["types": [String]()]
    let timeline: JSONObjectText = ["types": Self.types, "limit": limit, "lazy_load_members": true]
    let state: JSONObjectText = ["types": ["m.room.encryption"], "lazy_load_members": true]
    let room: JSONObjectText = [
      "rooms": rooms, "timeline": timeline, "state": state, "ephemeral": nothing, "account_data": nothing,
    ]
    let filter: JSONObjectText = ["room": room, "presence": nothing, "account_data": nothing]
    return filter.description
  }

  /// The filter for a page of one room's messages.
  static var ofPage: String {
    let filter: JSONObjectText = ["types": types, "lazy_load_members": true]
    return filter.description
  }
}
