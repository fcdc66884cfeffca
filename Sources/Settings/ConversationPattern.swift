/// A conversation's name, in which `*` stands for any run of characters, also for none, and `?` for one.
///
/// A name with either in it is matched by itself too; there is no way to say that nothing else is meant.
struct ConversationPattern: Sendable, Hashable {
  let text: String
  private let characters: [Character]

  init(_ text: String) {
    self.text = text
    characters = Array(text)
  }

  /// Whether it is more than one name.
  var isPattern: Bool { text.contains { "*?".contains($0) } }

  /// In time proportional to the pattern's length times the name's, at most.
  func matches(_ name: String) -> Bool {
    if !isPattern { return name == text }
    let name = Array(name)
    var (place, index) = (0, 0)
    // Where the last `*` stands, and where what it stands for ends so far.
    var star: (place: Int, end: Int)?
    while index < name.count {
      if place < characters.count, characters[place] == "*" {
        star = (place, index)
        place += 1
      } else if place < characters.count, characters[place] == "?" || characters[place] == name[index] {
        place += 1
        index += 1
      } else if let last = star {
        star = (last.place, last.end + 1)
        place = last.place + 1
        index = last.end + 1
      } else {
        return false
      }
    }
    return characters[place...].allSatisfy { $0 == "*" }
  }

  /// Whether it surely matches all that `other` matches.
  func covers(_ other: ConversationPattern) -> Bool {
    // With a `*` of the other's for one of our `?`, its text says nothing of what it matches.
    (!text.contains("?") || !other.text.contains("*")) && matches(other.text)
  }
}
