import DurableFiles
import Glibc
import Ledgers
import Messages
import Spooling

/// Finds requests by the conversation that their own files name, even if the rest is invalid.
struct RequestsOf {
  private let conversation: ConversationID

  init(_ conversation: ConversationID) { self.conversation = conversation }

  /// A directory that names the conversation.
  struct Found {
    let name: String
    /// Identifies the directory, whose name may be reused.
    let identity: RequestIdentity
  }

  /// The requests in `directory` to the conversation, also those in `NAME/entry`.
  func requests(in directory: Directory) throws -> [Found] { try all(in: directory, isNamed(by:)) }

  /// The announcements in `directory` from the conversation.
  func received(in directory: Directory) throws -> [Found] {
    try all(in: directory) {
      try names(it: "from-conversation", in: $0) || names(it: "from-conversation", below: "entry", in: $0)
    }
  }

  /// The entry with the name of a known request, if it is that request. The name may belong to another entry by now;
  /// without times of birth, so may the inode.
  func request(_ request: RequestRow, in directory: Directory) throws -> Found? {
    guard let entry = try directory.entry(request.request) else { return nil }
    let identity = RequestIdentity(entry)
    let isSame = request.born != 0 && identity == RequestIdentity(inode: request.inode, born: request.born)
    guard try isSame || look(request.request, in: directory, isNamed(by:)) != nil else { return nil }
    return Found(name: request.request, identity: identity)
  }

  private func isNamed(by request: Directory) throws -> Bool {
    // A profile photo belongs to the inbox, whatever else its request says.
    let isOfProfile = try request.field("kind") == "profile"
    return try !isOfProfile && names(it: "to", in: request) || names(it: "to", below: "entry", in: request)
      || request.isRefusedMail(for: conversation.text) || Receipt(in: request)?.conversation == conversation.text
  }

  private func all(in directory: Directory, _ isOne: (Directory) throws -> Bool) throws -> [Found] {
    var found = [Found]()
    try directory.forEachName { bytes in
      if let name = String(validating: bytes, as: UTF8.self), let one = try look(name, in: directory, isOne) {
        found.append(one)
      }
      return true
    }
    return found
  }

  private func look(_ name: String, in directory: Directory, _ isOne: (Directory) throws -> Bool) throws -> Found? {
    guard try directory.entry(name)?.kind == .directory else { return nil }
    do {
      let one = try directory.directory(name)
      return try isOne(one) ? Found(name: name, identity: RequestIdentity(one.entry())) : nil
    } catch let error as FileError {
      // It is gone, or its owner lets nobody read it.
      if ![ENOENT, EACCES, EPERM, ENOTDIR, ELOOP, ENXIO].contains(error.code) { throw error }
      return nil
    }
  }

  private func names(it field: String, below name: String, in directory: Directory) throws -> Bool {
    guard try directory.entry(name)?.kind == .directory else { return false }
    return try names(it: field, in: directory.directory(name))
  }

  private func names(it field: String, in directory: Directory) throws -> Bool {
    try directory.field(field) == conversation.text
  }
}

extension Directory {
  /// Whether a program holds the kernel's lock on the directory `name`.
  func isLocked(_ name: String) throws -> Bool {
    do { return try !directory(name).tryLock() } catch {
      if error.isMissing { return false }
      throw error
    }
  }
}
