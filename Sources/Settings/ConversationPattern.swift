/// A conversation's name, in which `*` matches any characters and `?` matches one. It also matches itself; there is no
/// escape.
struct ConversationPattern: Sendable, Hashable {
  let text: String
  private let characters: [Character]

  init(_ text: String) {
    self.text = text
    characters = Array(text)
  }

  var isPattern: Bool { text.contains { "*?".contains($0) } }

  /// Matches in time proportional to the product of both lengths at most.
  func matches(_ name: String) -> Bool {
    if !isPattern { return name == text }
    let name = Array(name)
    var (place, index) = (0, 0)
    // The last `*`, and the end of what it matches so far.
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

  /// Whether it certainly matches everything that `other` matches.
  func covers(_ other: ConversationPattern) -> Bool {
    // With a `*` of the other against our `?`, comparing the texts proves nothing.
    (!text.contains("?") || !other.text.contains("*")) && matches(other.text)
  }
}
