import Digests
import DurableFiles
import Messages
import Synchronization

extension IncomingSpool {
  /// Drops messages heard on a network durably into `new/`, in order, as a bridge would drop them.
  ///
  /// Order: a directory in `tmp/` with its files, each synced, and itself; its rename into `new/`; once for all, the
  /// syncs of `new/` and `tmp/`. If the process dies, some are dropped; the ledger recognises those when all are
  /// dropped again. The janitor removes the rest from `tmp/`.
  ///
  /// - Parameter source: who drops them; one call at a time.
  package func drop(_ messages: [Incoming], from source: String) throws {
    if messages.isEmpty { return }
    for message in messages { try drop(message, from: source) }
    try new.sync()
    try tmp.sync()
  }

  private func drop(_ message: Incoming, from source: String) throws {
    // A repetition has the same name and replaces what a dead process left.
    let origin = "\(source)\n\(message.inbox?.text ?? "")\n\(message.message)\n"
    let key = SHA256Digest(of: Array(origin.utf8)).hex.prefix(32)
    let name = "heard-\(key)"
    while try !tmp.make(name) { try tmp.removeTree(name) }
    let directory = try tmp.directory(name)
    func put(_ bytes: [UInt8], as name: String) throws {
      let file = try directory.file(creating: name)
      try file.write(bytes)
      try file.sync()
    }
    try put(message.attachment, as: "attachment")
    try put(Array("\(message.conversation)\n".utf8), as: "from-conversation")
    if let inbox = message.inbox { try put(Array("\(inbox)\n".utf8), as: "inbox") }
    try put(Array("\(message.message)\n".utf8), as: "message")
    if let sender = message.sender { try put(Array("\(sender)\n".utf8), as: "sender") }
    try directory.sync()
    // The number keeps the order for scans, whatever the clock's resolution.
    while try !tmp.move(name, to: new, as: "\(ArrivalNumber.prefix(order.next()))-\(key)") {}
  }
}

/// Growing numbers, which begin with the clock when the process starts.
final class DropOrder: Sendable {
  private let last = Mutex<UInt64>(0)

  func next() -> UInt64 {
    last.withLock { last in
      last = max(last + 1, ArrivalNumber.clock)
      return last
    }
  }
}
