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
    var nothing = JSONObjectText()
    nothing.add("types", [String]())
    var timeline = JSONObjectText()
    timeline.add("types", Self.types)
    timeline.add("limit", limit)
    timeline.add("lazy_load_members", true)
    var state = JSONObjectText()
    state.add("types", ["m.room.encryption"])
    state.add("lazy_load_members", true)
    var room = JSONObjectText()
    if let rooms { room.add("rooms", rooms) }
    room.add("timeline", timeline)
    room.add("state", state)
    room.add("ephemeral", nothing)
    room.add("account_data", nothing)
    var filter = JSONObjectText()
    filter.add("room", room)
    filter.add("presence", nothing)
    filter.add("account_data", nothing)
    return filter.description
  }

  /// The filter for a page of one room's messages.
  static var ofPage: String {
    var filter = JSONObjectText()
    filter.add("types", types)
    filter.add("lazy_load_members", true)
    return filter.description
  }
}
