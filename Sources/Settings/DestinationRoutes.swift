import Messages
import SettingKit

extension DestinationSettings {
  /// The routes with an existing network and a reachable pattern.
  func routes(_ entries: [RouteValues.Entry], of file: String) -> [RouteSettings] {
    tellUnreachable(entries, of: file)
    return entries.compactMap { entry in
      guard !entry.isRejected, let network = entry.network else { return nil }
      let origin = SettingOrigin.file(file, line: network.line)
      guard isKnown(network.text, in: .networks, at: "network", origin) else { return nil }
      var alias: Address?
      if let written = entry.alias, let type = type(ofNetwork: network.text) {
        alias = type.address.parse(written.text)
        if alias == nil {
          complaints.add(
            at: .file(file, line: written.line),
            "`as` is \(quoted(written.text)); on a network of type `\(type.word)` it has to be \(type.address.expects)")
        }
      }
      return RouteSettings(network: network.text, alias: alias, patterns: entry.conversations)
    }
  }

  /// Reports each route whose conversations an earlier one takes.
  private func tellUnreachable(_ entries: [RouteValues.Entry], of file: String) {
    var names = [String: Int]()
    var patterns = [(pattern: ConversationPattern, line: Int)]()
    for entry in entries {
      let takers = entry.conversations.map { conversation in
        names[conversation.text] ?? patterns.first { $0.pattern.covers(conversation) }?.line
      }
      if let line = takers.first ?? nil, !takers.contains(nil) {
        complaints.add(
          at: .file(file, line: entry.line), "no conversation comes to this route; the one of line \(line) is earlier")
      }
      for conversation in entry.conversations {
        if conversation.isPattern, patterns.count < Self.mostPatterns { patterns.append((conversation, entry.line)) }
        names[conversation.text] = names[conversation.text] ?? entry.line
      }
    }
  }

  /// The number of patterns that are compared; more would take too long.
  private static var mostPatterns: Int { 100 }
}
