import DurableFiles
import Glibc
import Messages
import Spooling

/// Finds requests by the conversation that their own files name, as bad as the rest of them may be.
struct RequestsOf {
  private let conversation: ConversationID

  init(_ conversation: ConversationID) { self.conversation = conversation }

  /// The names of the requests in `directory` that are to the conversation, also of those in `NAME/entry`.
  func requests(in directory: Directory) throws -> [String] {
    try names(in: directory) { request in
      // A profile photo is the inbox's, whatever else its request says.
      let isOfProfile = try Self.text(of: "kind", in: request) == "profile"
      return try !isOfProfile && names(it: "to", in: request) || names(it: "to", below: "entry", in: request)
    }
  }

  /// The names of what is received in `directory` from the conversation.
  func received(in directory: Directory) throws -> [String] {
    try names(in: directory) {
      try names(it: "from-conversation", in: $0) || names(it: "from-conversation", below: "entry", in: $0)
    }
  }

  private func names(in directory: Directory, _ isOne: (Directory) throws -> Bool) throws -> [String] {
    var found = [String]()
    try directory.forEachName { bytes in
      guard let name = String(validating: bytes, as: UTF8.self), try directory.entry(name)?.kind == .directory else {
        return true
      }
      do {
        if try isOne(directory.directory(name)) { found.append(name) }
      } catch let error as FileError {
        // Gone meanwhile, or of somebody who lets nobody read it.
        if ![ENOENT, EACCES, EPERM, ENOTDIR, ELOOP, ENXIO].contains(error.code) { throw error }
      }
      return true
    }
    return found
  }

  private func names(it field: String, below name: String, in directory: Directory) throws -> Bool {
    guard try directory.entry(name)?.kind == .directory else { return false }
    return try names(it: field, in: directory.directory(name))
  }

  private func names(it field: String, in directory: Directory) throws -> Bool {
    try Self.text(of: field, in: directory) == conversation.text
  }

  /// The one line of a field; nil when it is not there.
  private static func text(of field: String, in directory: Directory) throws -> String? {
    guard try directory.entry(field)?.kind == .file,
      let bytes = try directory.file(field).contents(limit: 4096)
    else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.hasSuffix("\n") ? String(text.unicodeScalars.dropLast()) : text
  }
}

extension Directory {
  /// Whether a program says, by the kernel's lock on the directory `name`, that it works there.
  func isLocked(_ name: String) throws -> Bool {
    do { return try !directory(name).tryLock() } catch {
      if error.isMissing { return false }
      throw error
    }
  }
}
