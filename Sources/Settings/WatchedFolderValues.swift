import Messages
import SettingKit
import Yams

/// The list `watch` of a configuration file.
struct WatchedFolderValues {
  /// More are a mistake.
  static let most = 100
  private static let keys = ["folder", "conversation", "inbox", "after", "quiet", "keepFor"]
  private static let identifier = SettingKind<ConversationID>.identifier
  private static let after = SettingKind<WatchedFolder.After>.word
  private static let quiet = SettingKind<Duration>.duration(.milliseconds(100) ... .hours(1))
  private static let keepFor = SettingKind<Duration>.duration(.seconds(1) ... .days(3650))

  private(set) var folders = [WatchedFolder]()
  private(set) var problems = [SettingsDocument.Problem]()

  init(_ node: Node, line: Int) {
    guard let list = node.sequence else {
      if !node.isNothing { complain(line, "`watch` is a list; a folder begins with `- folder: DIRECTORY`") }
      return
    }
    if list.count > Self.most { complain(line, "`watch` has more than \(Self.most) folders") }
    for item in list.prefix(Self.most) {
      let line = item.mark?.line ?? line
      guard let mapping = item.mapping else {
        complain(
          line, "a folder consists of `folder`, `conversation` and perhaps `inbox`, `after`, `quiet` and `keepFor`")
        continue
      }
      guard let folder = folder(mapping, line: line) else { continue }
      if folders.contains(where: {
        "\($0.folder)/".hasPrefix("\(folder.folder)/") || "\(folder.folder)/".hasPrefix("\($0.folder)/")
      }) {
        complain(line, "\(quoted(folder.folder)) lies in another watched folder, or has one in it; watch one of them")
      }
      folders.append(folder)
    }
  }

  private mutating func complain(_ line: Int, _ sentence: String) {
    problems.append(.init(line: line, sentence: sentence))
  }

  private mutating func folder(_ mapping: Node.Mapping, line: Int) -> WatchedFolder? {
    let found = problems.count
    var (path, conversation, inbox) = ("", "", InboxID?.none)
    var (after, quiet, keepFor) = (
      WatchedFolder.After.move, WatchedFolder.standardQuiet, WatchedFolder.standardKeepFor
    )
    var seen = Set<String>()
    for (key, value) in mapping {
      let line = key.mark?.line ?? line
      let name = key.scalar?.string ?? ""
      seen.insert(name)
      switch name {
      case "folder":
        path = text(value, name, expects: "an absolute path", line) { $0.hasPrefix("/") ? Self.path($0) : nil } ?? ""
      case "conversation":
        conversation =
          text(
            value, name, expects: "\(Self.identifier.expects), in which `{folder1}` to `{folder4}` are folders", line
          ) {
            WatchedFolder.isConversation($0) ? $0 : nil
          } ?? ""
      case "inbox":
        inbox = text(value, name, expects: Self.identifier.expects, line) { try? InboxID($0) }
      case "after": after = text(value, name, expects: Self.after.expects, line, Self.after.parse) ?? after
      case "quiet": quiet = text(value, name, expects: Self.quiet.expects, line, Self.quiet.parse) ?? quiet
      case "keepFor": keepFor = text(value, name, expects: Self.keepFor.expects, line, Self.keepFor.parse) ?? keepFor
      default:
        let meant = suggestion(for: name, among: Self.keys)
        if let meant { seen.insert(meant) }
        complain(line, "unknown key \(quoted(name)) in a folder" + (meant.map { "; did you mean `\($0)`?" } ?? ""))
      }
    }
    for key in ["folder", "conversation"] where !seen.contains(key) { complain(line, "this folder has no `\(key)`") }
    guard problems.count == found else { return nil }
    return WatchedFolder(
      folder: path, conversation: conversation, inbox: inbox, after: after, quiet: quiet, keepFor: keepFor)
  }

  /// Without slashes at the end.
  private static func path(_ text: String) -> String {
    let end = text.lastIndex { $0 != "/" } ?? text.startIndex
    return String(text[...end])
  }

  private mutating func text<Value>(
    _ node: Node, _ key: String, expects: String, _ line: Int, _ parse: (String) -> Value?
  ) -> Value? {
    let text = node.scalar?.string ?? ""
    if let complaint = node.complaint(for: key, expects: expects) {
      complain(line, complaint)
    } else if let value = parse(text) {
      return value
    } else {
      complain(line, "`\(key)` is \(quoted(text)); it has to be \(expects)")
    }
    return nil
  }
}
