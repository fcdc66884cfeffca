import DurableFiles
import FoundationEssentials
import Messages

@testable import Spooling

extension FuzzTarget {
  static let spool: [FuzzTarget] = [request, incoming, sum, names, purgeOrders]

  /// Splits an input into files: `NAME 0x1F CONTENTS`, separated by 0x1E.
  private static func files(_ input: [UInt8]) -> [(name: String, contents: [UInt8])] {
    input.split(separator: 0x1E).prefix(24).compactMap { part in
      let pieces = part.split(separator: 0x1F, maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(decoding: pieces[0], as: UTF8.self)
      guard !name.isEmpty, name.utf8.count <= 255, !name.utf8.contains(0), !name.contains("/"), name != ".",
        name != ".."
      else { return nil }
      return (name, pieces.count > 1 ? Array(pieces[1]) : [])
    }
  }

  /// Writes the files of an input.
  static func fill(_ directory: Directory, with input: [UInt8]) throws {
    for (name, contents) in files(input) {
      // A filesystem may consider the name equal to an existing one.
      guard let file = try? directory.file(creating: name) else { continue }
      try file.write(contents)
    }
  }

  /// Runs `body` with a new directory.
  static func inScratch(_ body: (Directory) throws -> Void) throws(BrokenProperty) {
    do {
      let scratch = try Scratch()
      try body(scratch.directory)
    } catch let error as BrokenProperty {
      throw error
    } catch {
      throw BrokenProperty(description: "the disk: \(error)")
    }
  }

  private static func inDirectory(
    _ input: [UInt8], _ body: (Directory) throws -> Void
  ) throws(BrokenProperty) {
    try inScratch { directory in
      try fill(directory, with: input)
      try body(directory)
    }
  }

  static let request = FuzzTarget(
    "request", words: ["to", "from", "id", "kind", "text", ".sum", "photo", "message", "profile", "\u{1E}", "\u{1F}"]
  ) { input throws(BrokenProperty) in
    try inDirectory(input) { directory in
      do {
        let request = try RequestReader(directory).request
        let conversation = request.conversation(defaultInbox: InboxID(unchecked: "me"))
        try hold(!conversation.text.isEmpty, "it goes nowhere")
        try hold(1...11 ~= request.parts.count, "it has \(request.parts.count) parts")
        try hold(request.parts.allSatisfy { $0.bytes > 0 }, "a part is empty")
        try hold(try RequestReader(directory).request.digest == request.digest, "read again, it is another one")
      } catch let refusal as Refusal {
        try holdPlain(refusal.description)
      }
    }
  }

  static let incoming = FuzzTarget(
    "incoming", words: ["from-conversation", "inbox", "message", "attachment", "error", "\u{1E}", "\u{1F}"]
  ) { input throws(BrokenProperty) in
    try inDirectory(input) { directory in
      do {
        let incoming = try IncomingReader.read(directory)
        try hold(1...255 ~= incoming.message.text.utf8.count, "the id is too long")
        try holdPlain(incoming.message.text.filter { $0.unicodeScalars.allSatisfy { $0.isASCII } })
      } catch let refusal as Refusal {
        try holdPlain(refusal.description)
      }
    }
  }

  static let sum = FuzzTarget("sum", words: [" ", "\n", "photo", "to", String(repeating: "0a", count: 32)]) {
    input throws(BrokenProperty) in
    guard let text = String(validating: input, as: UTF8.self) else { return }
    let sum: SumFile
    do throws(Refusal) { sum = try SumFile(parsing: text) } catch {
      try holdPlain(error.description)
      return
    }
    let again = try? SumFile(parsing: sum.text)
    try hold(again?.lines == sum.lines, "what was written is not what is read")
    try hold((try? sum.check(sum.lines)) != nil, "it is not its own sum")
  }

  static let names = FuzzTarget("names", words: ["o", "-", ".", "0000000000000"]) { input throws(BrokenProperty) in
    let text = String(decoding: input, as: UTF8.self)
    if let name = RequestName(text) {
      try hold(text.utf8.count <= 128 && !text.contains("/"), "a name leaves its directory")
      let second = name.alternative(2)
      try hold(second != name && RequestName(second.text) != nil, "a name has no alternative")
    }
    _ = ArrivalNumber.isNumbered(text)
    // Others in the spool's group may write the counter.
    if let next = try? ArrivalNumber.next(after: text, highest: { 0 }) {
      try hold(ArrivalNumber.prefix(next).utf8.count == 14, "a number has another length")
    }
    if let conversation = try? ConversationID(text) { try hold(conversation.text.utf8.count <= 255, "too long") }
  }

  static let purgeOrders = FuzzTarget("purge", words: ["\n", "family", "\u{1B}[2J"]) { input throws(BrokenProperty) in
    try inSpool { spool in
      try spool.purge.file(creating: "order").write(input)
      let orders = PurgeOrders(spool)
      let (conversations, unreadable) = try orders.read()
      for line in unreadable { try holdPlain(line) }
      try orders.strike(Set(conversations))
      try hold(try orders.read().conversations.isEmpty, "what was struck out is ordered")
    }
  }
}

/// A directory in memory, removed with its last reference.
final class Scratch {
  let directory: Directory
  private let path: String

  init() throws {
    path = "/dev/shm/photospool-fuzz-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    directory = try Directory(path: path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
