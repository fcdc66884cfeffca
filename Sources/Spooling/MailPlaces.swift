import DurableFiles

/// `mail/`: a Maildir in which delivery agents put mails. It is there only where a configuration takes mail.
package struct MailPlaces: Sendable {
  package static let directoryName = "mail"

  package let root: Directory
  package let tmp: Directory
  package let new: Directory

  private init(_ root: Directory) throws {
    self.root = root
    tmp = try root.directory("tmp")
    new = try root.directory("new")
  }

  /// Opens `mail/` of a spool and makes what is missing.
  package init(creatingIn spool: Spool) throws {
    try spool.root.makeShared(Self.directoryName) { .cannotShareMail($0) }
    let root = try spool.root.directory(Self.directoryName)
    for name in ["tmp", "new"] { try root.makeShared(name) { .cannotShareMail($0) } }
    _ = try root.make("cur")
    try root.sync()
    try spool.root.sync()
    try self.init(root)
  }

  /// Opens `mail/` of a spool; nil if it has none.
  package init?(in spool: Directory) throws {
    guard try spool.entry(Self.directoryName) != nil else { return nil }
    try self.init(spool.directory(Self.directoryName))
  }

  /// `mail/cur/`, which is the daemon's alone and stays empty.
  package func cur() throws -> Directory { try root.directory("cur") }

  /// Whether the group may deliver here. OpenSMTPD's agent removes that right from `mail/`.
  package func isShared() throws -> Bool {
    try [root, tmp, new].allSatisfy { try $0.entry().permissions & 0o070 == 0o070 }
  }
}

extension Spool {
  fileprivate static let mailName = "mail"
  fileprivate static let mailConversations = "to"
  /// 100 recipients with 255 bytes each.
  fileprivate static let mailConversationBytes = 100 * 256

  /// Moves a refused mail into a directory of its own in `failed/`, with an `error` and, if they are known, the
  /// conversations in `to`, one a line: a purge of any of them finds the mail. After a crash the mail is still where it was.
  ///
  /// - Returns: the name in `failed/`; nil if the mail is gone.
  package func refuse(
    mail name: [UInt8], in places: MailPlaces, for conversations: [String], because sentence: String
  ) throws -> RequestName? {
    let base = RequestName(MailName.label(name)) ?? RequestName("mail")
    return try Self.quarantine(
      name, from: places.new, to: failed, as: base, called: Self.mailName, because: sentence,
      beside: conversations.isEmpty ? [:] : [Self.mailConversations: conversations.joined(separator: "\n")])
  }
}

extension Directory {
  /// Whether this entry of `failed/` is a refused mail.
  package var holdsRefusedMail: Bool { get throws { try entry(Spool.mailName)?.kind == .file } }

  /// Whether this entry of `failed/` is a refused mail that was for the conversation, perhaps among others.
  package func isRefusedMail(for conversation: String) throws -> Bool {
    guard try holdsRefusedMail, try entry(Spool.mailConversations)?.kind == .file else { return false }
    let text = String(
      decoding: try file(Spool.mailConversations).contents(limit: Spool.mailConversationBytes) ?? [], as: UTF8.self)
    return text.split(separator: "\n").contains { $0 == conversation }
  }
}

/// The names of mails, which agents choose.
package enum MailName {
  private static let longest = 96

  /// A mail's name as part of a request's: other characters become `-`.
  package static func label(_ name: [UInt8]) -> String {
    var label = name.prefix(longest).map { isTokenByte($0) ? $0 : UInt8(ascii: "-") }
    if let first = label.first, [UInt8(ascii: "."), UInt8(ascii: "-")].contains(first) { label[0] = UInt8(ascii: "_") }
    return String(decoding: label, as: UTF8.self)
  }
}
