import Messages
import SettingKit
import Yams

/// The list `watch` of a configuration file.
enum WatchedFolderValues {
  /// More are a mistake.
  static let most = 100
  private static let quiet = SettingKind<Duration>.duration(.milliseconds(100) ... .hours(1))
  private static let keepFor = SettingKind<Duration>.duration(.seconds(1) ... .days(3650))

  /// The valid folders. Adds what is wrong with the others to `problems`.
  static func folders(_ node: Node, line: Int, _ problems: inout [SettingsDocument.Problem]) -> [WatchedFolder] {
    var folders = [WatchedFolder]()
    var reader = EntryReader(
      "folder", required: ["folder", "conversation"],
      others: ["inbox", "text", "after", "existing", "quiet", "keepFor"])
    for (mapping, line) in reader.entries(
      of: node, at: "watch", line: line, beginning: "folder: DIRECTORY", most: most)
    {
      guard let folder = folder(mapping, line, &reader) else { continue }
      if folders.contains(where: {
        "\($0.folder)/".hasPrefix("\(folder.folder)/") || "\(folder.folder)/".hasPrefix("\($0.folder)/")
      }) {
        reader.complain(
          line, "\(quoted(folder.folder)) lies in another watched folder, or has one in it; watch one of them")
      }
      folders.append(folder)
    }
    problems += reader.problems
    return folders
  }

  private static func folder(_ mapping: Node.Mapping, _ line: Int, _ reader: inout EntryReader) -> WatchedFolder? {
    let found = reader.problems.count
    var folder = WatchedFolder(folder: "", conversation: "")
    var places = [String: Int]()
    for (key, value, line) in reader.values(of: mapping, line: line) {
      places[key] = line
      switch key {
      case "folder":
        folder.folder =
          reader.value(value, key, line, expects: "an absolute path") { $0.hasPrefix("/") ? path($0) : nil } ?? ""
      case "conversation":
        folder.conversation = reader.conversation(
          value, key, line, places: WatchedFolder.places, hint: ", in which `{folder1}` to `{folder4}` are folders")
      case "inbox":
        folder.inbox = reader.value(value, key, line, expects: EntryReader.identifier.expects) { try? InboxID($0) }
      case "text": folder.text = reader.value(value, key, line, WatchedFolder.Text.kind)
      case "after": folder.after = reader.value(value, key, line, .word) ?? folder.after
      case "existing": folder.existing = reader.value(value, key, line, .word) ?? folder.existing
      case "quiet": folder.quiet = reader.value(value, key, line, quiet) ?? folder.quiet
      default: folder.keepFor = reader.value(value, key, line, keepFor) ?? folder.keepFor
      }
    }
    guard reader.problems.count == found else { return nil }
    for (key, after) in [("existing", WatchedFolder.After.keep), ("keepFor", .move)] where folder.after != after {
      if let line = places[key] {
        reader.complain(line, "`\(key)` belongs to `after: \(after.rawValue)`; remove it, or change `after`")
      }
    }
    return reader.problems.count == found ? folder : nil
  }

  /// Without slashes at the end.
  private static func path(_ text: String) -> String {
    let end = text.lastIndex { $0 != "/" } ?? text.startIndex
    return String(text[...end])
  }
}
