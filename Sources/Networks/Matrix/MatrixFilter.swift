import Messages

/// What a homeserver is asked to tell of rooms, and nothing else: messages of the rooms that are listened to. Source:
/// Matrix specification, client-server API, filtering.
struct MatrixFilter {
  /// nil is every room that the account is in.
  let rooms: [String]?
  /// Messages of a room that one answer may have.
  let limit: Int

  /// Photos come in events of this type. What Megolm encrypted has another one, and could not be read.
  private static let types = ["m.room.message"]

  var description: String {
    var nothing = JSONObjectText()
    nothing.add("types", [String]())
    var timeline = JSONObjectText()
    timeline.add("types", Self.types)
    timeline.add("limit", limit)
    timeline.add("lazy_load_members", true)
    var state = nothing
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

  /// The filter of one room's messages, page by page.
  static var ofPage: String {
    var filter = JSONObjectText()
    filter.add("types", types)
    filter.add("lazy_load_members", true)
    return filter.description
  }
}
