import Messages

extension Identifier {
  /// The identifier as a unique file name, which cannot leave its folder. ASCII letters, digits, `_@:!+=,-` and a dot
  /// that is not the first character stay; every other byte becomes `%XX`. A name over 200 bytes is cut and ends in `~`
  /// and the identifier's SHA-256. `~` is otherwise escaped, so the forms are distinct. The profile photo of an inbox
  /// is under `profile~` and the inbox; a cut name has its `~` much later.
  package var fileName: String {
    if let inbox = inboxOfProfile { return "profile~" + inbox.fileName }
    var escaped = [UInt8]()
    for (index, byte) in text.utf8.enumerated() {
      if byte.isAlphanumeric || "_@:!+=,-".utf8.contains(byte) || (byte == UInt8(ascii: ".") && index > 0) {
        escaped.append(byte)
      } else {
        escaped += [UInt8(ascii: "%")] + [byte].hex.uppercased().utf8
      }
    }
    if escaped.count <= longestEscapedName { return String(decoding: escaped, as: UTF8.self) }
    let digest = SHA256Digest(of: Array(text.utf8)).hex
    return String(decoding: escaped.prefix(longestEscapedName - 65), as: UTF8.self) + "~" + digest
  }
}

/// Leaves room for an ending within Linux' 255 bytes.
private let longestEscapedName = 200

extension Identifier {
  /// The identifier of a `fileName`; nil for a cut name and for anything else.
  package init?(fileName: String) {
    if Self.self == ConversationID.self, fileName.hasPrefix("profile~") {
      guard let inbox = InboxID(fileName: String(fileName.dropFirst("profile~".count))) else { return nil }
      self.init(unchecked: ConversationID.profile(of: inbox).text)
      return
    }
    guard let text = String(percentEncoded: fileName), let identifier = try? Self(text),
      identifier.fileName == fileName
    else { return nil }
    self = identifier
  }
}
