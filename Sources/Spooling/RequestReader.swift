import Digests
import DurableFiles
import Glibc
import Messages

/// Reads a request's directory as hostile input: by descriptor, without following links, without blocking, and within
/// limits. The files stay open until they are synced, so that a batch can start all writes before it waits.
package struct RequestReader: Sendable {
  package let request: Request
  private let files: [File]
  private let directory: Directory

  /// The number of open descriptors.
  package var openFiles: Int { files.count + 1 }

  /// Opens and checks all of `directory`.
  ///
  /// - Parameter patience: how long a file may still be open for writing, in seconds.
  /// - Throws: `Refusal` if the request is invalid; `FileError` if the disk fails.
  package init(_ directory: Directory, patience: Double = 1) throws {
    let owner = try directory.entry().owner
    var found = [String: (file: File, line: SumFile.Line, contents: [UInt8])]()
    for (name, kind) in try Self.entries(of: directory) {
      let role = try Self.role(of: name)
      guard role != .leftover else { continue }
      let file = try Self.open(name, as: kind, in: directory, owner: owner)
      if Self.staysOpen(file, for: patience) { throw Refusal.stillOpen(name) }
      // `startWriting` begins small files, unless they are synced together.
      if role == .photo { file.startWriteback() }
      var hasher = SHA256Hasher()
      var contents = [UInt8]()
      let bytes = try file.read(limit: role.limit) { piece in
        hasher.update(piece)
        if role != .photo { contents.append(contentsOf: piece) }
      }
      if bytes > role.limit {
        throw Refusal.tooLarge(file: name, bytes: max(bytes, try file.entry().size), limit: role.limit)
      }
      found[name] = (file, SumFile.Line(digest: hasher.finish(), bytes: bytes), contents)
    }

    func field(_ name: String) throws(Refusal) -> String? {
      guard let contents = found[name]?.contents else { return nil }
      guard let text = String(validating: contents, as: UTF8.self) else { throw .notUTF8(name) }
      return text.withoutLastNewline
    }

    if let sum = try field(".sum") {
      try SumFile(parsing: sum).check(found.filter { $0.key != ".sum" }.mapValues(\.line))
    }
    let photos = found.keys.filter { $0.hasPrefix("photo") }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    if photos.count > RequestLimits.photos { throw Refusal.tooManyPhotos(photos.count) }
    var parts = [RequestPart]()
    for name in photos {
      guard let line = found[name]?.line else { continue }
      if line.bytes == 0 { throw Refusal.badField(file: name, fault: "the photo is empty; copy it again") }
      parts.append(RequestPart(kind: .photo, file: name, bytes: line.bytes, digest: line.digest))
    }
    // `echo "$caption" > text` without a caption writes only a newline.
    if let text = try field("text"), !text.allSatisfy(\.isWhitespace), let line = found["text"]?.line {
      if text.utf8.count > RequestLimits.textBytes {
        throw Refusal.tooLarge(file: "text", bytes: line.bytes, limit: RequestLimits.textBytes)
      }
      parts.append(RequestPart(kind: .text, file: "text", bytes: line.bytes, digest: line.digest))
    }
    let isProfile: Bool
    switch try field("kind") ?? "message" {
    case "message": isProfile = false
    case "profile": isProfile = true
    default: throw Refusal.badField(file: "kind", fault: "the kind is neither message nor profile; write one of them")
    }
    let to = try field("to")
    let addressee: Addressee
    if isProfile {
      addressee = .profile
      parts = try Self.profile(parts, kind: found["kind"]?.line)
    } else {
      guard let to else { throw Refusal.missingRecipient }
      addressee = .conversation(try Self.conversation(to))
    }
    let inbox = try field("from").map(Self.inbox)
    let key = try field("id").map { text in
      guard let key = IdempotencyKey(text) else {
        throw Refusal.badField(file: "id", fault: "the id is not 1 to 128 of A-Za-z0-9._-; write one that is")
      }
      return key
    }
    if parts.isEmpty { throw Refusal.empty }

    request = Request(
      addressee: addressee, inbox: inbox, key: key, parts: parts,
      digest: Self.digest(isProfile ? "profile" : "to \(to ?? "")", from: inbox, parts: parts))
    // The files with the conversation are synced last. A filesystem may keep each file separately: a request that a
    // power cut truncates before its acceptance is then refused, and not sent without its photo.
    let goals = ["kind", "to"]
    files = found.filter { !goals.contains($0.key) }.map(\.value.file) + goals.compactMap { found[$0]?.file }
    self.directory = directory
  }

  /// Starts writing all files to the disk, for a later `sync`.
  package func startWriting() {
    for file in files { file.startWriteback() }
  }

  /// Checks that a sync of the whole filesystem wrote this request.
  package func checkWritten() throws {
    for file in files { try file.checkWritten() }
  }

  /// Syncs every file, then the directory.
  package func sync() throws {
    for file in files { try file.sync() }
    try directory.sync()
  }

  // MARK: Parts of init

  private enum Role: Equatable {
    case field, text, sum, photo
    /// Left by photospool in a request that failed before.
    case leftover

    var limit: Int {
      switch self {
      case .field: RequestLimits.fieldBytes
      case .text: RequestLimits.textFileBytes
      case .sum: RequestLimits.sumBytes
      case .photo: RequestLimits.photoBytes
      case .leftover: 0
      }
    }
  }

  private static func staysOpen(_ file: File, for patience: Double) -> Bool {
    let end = ContinuousClock.now + .seconds(patience)
    while file.hasWriter() == true {
      if ContinuousClock.now >= end { return true }
      usleep(5000)
    }
    return false
  }

  /// The conversation of a request that cannot be read as a whole yet.
  package static func conversation(of directory: Directory, defaultInbox: InboxID) throws -> ConversationID {
    let goal = try goal(of: directory)
    if let conversation = goal.conversation { return conversation }
    return Addressee.profile.conversation(of: goal.inbox ?? defaultInbox)
  }

  /// The same without the configured inbox; nil for a profile photo that needs it.
  package static func goal(of directory: Directory) throws -> (conversation: ConversationID?, inbox: InboxID?) {
    let inbox = try directory.field("from").map { try InboxID($0) }
    if try directory.field("kind") == "profile" { return (inbox.map { Addressee.profile.conversation(of: $0) }, inbox) }
    return try (ConversationID(directory.field("to") ?? ""), inbox)
  }

  private static func entries(of directory: Directory) throws -> [(name: String, kind: Entry.Kind?)] {
    var entries = [(name: String, kind: Entry.Kind?)]()
    var fault: Refusal?
    try directory.forEachEntry { bytes, kind in
      guard let name = String(validating: bytes, as: UTF8.self) else {
        fault = .unknownFile(String(decoding: bytes, as: UTF8.self))
        return false
      }
      entries.append((name, kind))
      if entries.count > RequestLimits.entries { fault = .tooManyFiles }
      return fault == nil
    }
    if let fault { throw fault }
    return entries.sorted { $0.name < $1.name }
  }

  private static func role(of name: String) throws(Refusal) -> Role {
    switch name {
    case "to", "from", "id", "kind": .field
    case "text": .text
    case ".sum": .sum
    case "error", ".error.tmp": .leftover
    case _ where name.hasPrefix("photo") && name.hasSuffix("~"): throw .backup(name)
    case _ where name.hasPrefix("photo"): .photo
    default: throw .unknownFile(name)
    }
  }

  /// - Parameter kind: the kind from the directory, if known.
  static func open(_ name: String, as kind: Entry.Kind? = nil, in directory: Directory, owner: UInt32) throws -> File {
    // Checked before opening for a better sentence, and again after it for safety.
    if let kind = try kind ?? directory.entry(name)?.kind, kind != .file {
      throw Refusal.notAFile(file: name, kind: kind.noun)
    }
    let file: File
    do {
      file = try directory.file(name)
    } catch {
      switch error.code {
      case ELOOP, EXDEV: throw Refusal.notAFile(file: name, kind: Entry.Kind.symbolicLink.noun)
      case EACCES, ENXIO: throw Refusal.unreadable(error.description)
      default: throw error
      }
    }
    let entry = try file.entry()
    if entry.kind != .file { throw Refusal.notAFile(file: name, kind: entry.kind.noun) }
    if entry.links != 1 { throw Refusal.severalLinks(name) }
    if entry.owner != owner { throw Refusal.foreignOwner(name) }
    return file
  }

  /// The part of a profile request: one photo, or its removal, which `kind` represents.
  private static func profile(_ parts: [RequestPart], kind: SumFile.Line?) throws(Refusal) -> [RequestPart] {
    if parts.contains(where: { $0.kind == .text }) { throw .textOfProfile }
    if parts.count > 1 { throw .severalProfilePhotos(parts.count) }
    if let photo = parts.first {
      return [RequestPart(kind: .profile, file: photo.file, bytes: photo.bytes, digest: photo.digest)]
    }
    return kind.map { [RequestPart(kind: .profileRemoval, file: "kind", bytes: $0.bytes, digest: $0.digest)] } ?? []
  }

  /// Refuses invisible additions by editors and scripts, which would make another name.
  private static func name(_ text: String, in file: String) throws(Refusal) -> String {
    let scalars = text.unicodeScalars
    if text.last == "\r\n" || text.last == "\r" {
      throw .badField(file: file, fault: "the name ends in a Windows line end; write it with a plain newline, or none")
    }
    if scalars.first == "\u{FEFF}" {
      throw .badField(file: file, fault: "the name begins with a byte order mark; write it without one")
    }
    if scalars.first?.properties.isWhitespace == true || scalars.last?.properties.isWhitespace == true {
      throw .badField(file: file, fault: "the name begins or ends with a blank; write it without")
    }
    return text
  }

  /// The conversation that `text` names, with the checks of the file `to`.
  package static func conversation(_ text: String) throws(Refusal) -> ConversationID {
    try identifier(ConversationID.self, name(text, in: "to"), in: "to")
  }

  /// The inbox that `text` names, with the checks of the file `from`.
  package static func inbox(_ text: String) throws(Refusal) -> InboxID {
    try identifier(InboxID.self, name(text, in: "from"), in: "from")
  }

  static func identifier<ID: Identifier>(_: ID.Type, _ text: String, in file: String) throws(Refusal) -> ID {
    do { return try ID(text) } catch { throw .badField(file: file, fault: error.description) }
  }

  private static func digest(_ goal: String, from inbox: InboxID?, parts: [RequestPart]) -> SHA256Digest {
    let lines =
      [goal, "from \(inbox?.text ?? "")"]
      + parts.map { "\(PhotoName.withoutOriginal($0.file)) \($0.bytes) \($0.digest.hex)" }
    return SHA256Digest(of: Array(lines.joined(separator: "\n").utf8))
  }
}

extension Entry.Kind {
  package var noun: String {
    switch self {
    case .file: "a file"
    case .directory: "a directory"
    case .symbolicLink: "a symbolic link"
    case .fifo: "a FIFO"
    case .socket: "a socket"
    case .device: "a device"
    }
  }
}

extension Directory {
  /// The text of a request's field, of any bytes; nil if it is not a file, empty if it is too large.
  package func field(_ name: String) throws -> String? {
    guard try entry(name)?.kind == .file else { return nil }
    return String(decoding: try file(name).contents(limit: RequestLimits.fieldBytes) ?? [], as: UTF8.self)
      .withoutLastNewline
  }
}

extension String {
  /// The text without one newline at its end, which editors and `echo` write.
  var withoutLastNewline: String { hasSuffix("\n") ? String(unicodeScalars.dropLast()) : self }
}
