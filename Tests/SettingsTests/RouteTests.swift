import Testing

@testable import Settings

struct RouteTests {
  @Test("the first route that matches wins, and what matches none has no route")
  func firstWins() throws {
    let settings = try loadSettings(
      """
      networks: {work: {}, home: {}}
      routes:
        - {conversation: family, network: home, as: "!room:example.org"}
        - conversation: [boss, "team-*"]
          network: work
        - {conversation: "*@example.org", network: home}
        - {conversation: no, network: local}
      """
    ).settings
    func network(_ conversation: String) -> String? { settings.route(of: conversation)?.network }
    #expect(network("family") == "home")
    #expect(network("boss") == "work")
    #expect(network("team-red") == "work")
    #expect(network("team-red@example.org") == "work")
    #expect(network("red@example.org") == "home")
    #expect(network("Family") == nil)
    #expect(network("no") == "local")
    #expect(settings.routes.map(\.alias?.text) == ["!room:example.org", nil, nil, nil])
    #expect(settings.routes.map(\.conversations) == [["family"], ["boss", "team-*"], ["*@example.org"], ["no"]])
  }

  @Test(
    "in a pattern * is any run of characters and ? is one",
    arguments: [
      ("*", "", true), ("*", "family", true), ("?", "", false), ("?", "é", true), ("?", "👨‍👩‍👧", true), ("?", "ab", false),
      ("a*", "a", true), ("a*", "ba", false), ("*a", "aba", true), ("*a", "ab", false), ("a*b*c", "axxbyyc", true),
      ("a*b*c", "axxcyyb", false), ("a?c", "abc", true), ("a?c", "ac", false), ("*?*", "", false), ("*?*", "a", true),
      ("**", "", true), ("a**b", "ab", true), ("*.example.*", "a.example.b.example.c", true), ("[a]*", "a", false),
      ("team-*", "team-*", true), ("what?", "what?", true), ("a.c", "abc", false),
    ])
  func patterns(pattern: String, name: String, matches: Bool) {
    #expect(ConversationPattern(pattern).matches(name) == matches)
  }

  @Test("a pattern agrees with one that tries everything, for all short patterns and names")
  func everyShortPattern() {
    func matches(_ pattern: Substring, _ name: Substring) -> Bool {
      switch pattern.first {
      case nil: name.isEmpty
      case "*": matches(pattern.dropFirst(), name) || !name.isEmpty && matches(pattern, name.dropFirst())
      case "?": !name.isEmpty && matches(pattern.dropFirst(), name.dropFirst())
      case let character: name.first == character && matches(pattern.dropFirst(), name.dropFirst())
      }
    }
    func words(of letters: String, upTo length: Int) -> [String] {
      length == 0
        ? [""] : [""] + words(of: letters, upTo: length - 1).flatMap { word in letters.map { "\(word)\($0)" } }
    }
    let patterns = Set(words(of: "ab*?", upTo: 4)).sorted()
    let names = Set(words(of: "ab", upTo: 4)).sorted()
    for pattern in patterns {
      let taken = Set(names.filter { ConversationPattern(pattern).matches($0) })
      #expect(taken == Set(names.filter { matches(pattern[...], $0[...]) }), "\(pattern)")
    }
  }

  @Test("a pattern takes every name from another that it is said to take")
  func covering() {
    let texts = ["*", "a*", "*b", "a*b", "a?", "?b", "ab", "a", "a?b", "a*?", "??", "?"]
    let names = ["", "a", "b", "ab", "aab", "abb", "ba", "aabb", "bb", "aa"]
    for one in texts.map(ConversationPattern.init) {
      for other in texts.map(ConversationPattern.init) where one.covers(other) {
        #expect(names.allSatisfy { !other.matches($0) || one.matches($0) }, "\(one.text) \(other.text)")
      }
    }
    #expect(ConversationPattern("a*").covers(ConversationPattern("a?")))
    #expect(!ConversationPattern("a?").covers(ConversationPattern("a*")))
  }

  @Test("a pattern of many stars costs little")
  func manyStars() {
    let pattern = ConversationPattern(String(repeating: "a*", count: 120) + "b")
    #expect(!pattern.matches(String(repeating: "a", count: 255)))
  }
}
