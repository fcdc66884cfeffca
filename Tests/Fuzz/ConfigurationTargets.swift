import HTTP
import Messages
import SettingKit

@testable import Settings

extension FuzzTarget {
  static let configuration: [FuzzTarget] = [settings, settingWords, pattern]

  static let settings = FuzzTarget(
    "settings",
    words: [
      "\n", "  ", ": ", "- ", "{", "}", "[", "]", "\"", "'", "&a ", "*a", "!x ", "#", "|", ">", "---", "\t", "~",
      "inbox", "stores", "networks", "routes", "store", "network", "type", "matrix", "s3", "xmtp", "delivery",
      "uploads",
      "cache", "bytes", "photo", "retry", "10MB", "5m", "true", "\u{85}", "\u{2028}", "\u{FEFF}",
    ]
  ) { input throws(BrokenProperty) in
    try inScratch { directory in
      try directory.file(creating: "photospool.yaml").write(input)
      let path = directory.path(of: "photospool.yaml")
      do throws(SettingsError) {
        _ = try Settings.load(file: path, fileIsExplicit: true, environment: [:], flags: [:])
      } catch {
        try hold(!error.problems.isEmpty, "it is refused without a reason")
        for problem in error.problems { try holdPlain(problem.description) }
      }
    }
  }

  static let settingWords = FuzzTarget(
    "setting-words",
    words: [
      "kB", "MiB", "TB", "TiB", "ms", "s", "m", "h", "d", " ", "https://", "http://", "[::1]", ":", "localhost", "127.",
    ]
  ) { input throws(BrokenProperty) in
    let text = String(decoding: input, as: UTF8.self)
    if let bytes = SizeText.parse(text) {
      try hold(SizeText.parse(SizeText.show(bytes)) == bytes, "\(bytes) bytes are shown as something else")
    }
    if let duration = DurationText.parse(text) {
      let shown = DurationText.show(duration)
      try hold(DurationText.parse(shown) == duration, "\(duration) is shown as \(shown)")
    }
    if let address = WebAddress(text) {
      try hold(!address.host.isEmpty && address.port.map { 1...65_535 ~= $0 } ?? true, "the address is none")
    }
    try holdPlain(quoted(text))
  }

  /// A pattern and a name, separated by a newline.
  static let pattern = FuzzTarget("pattern", words: ["*", "?", "a", "\n", "\u{301}"]) { input throws(BrokenProperty) in
    let parts = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let text = String(decoding: parts[0], as: UTF8.self)
    let name = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
    let pattern = ConversationPattern(text)
    try hold(pattern.matches(text), "\(text.debugDescription) does not match itself")
    try hold(ConversationPattern("*").matches(name), "* does not match \(name.debugDescription)")
    let other = ConversationPattern(name)
    try hold(!pattern.covers(other) || other.isPattern || pattern.matches(name), "it covers what it does not match")
  }
}
