import DurableFiles
import Messages
import Spooling

/// A request in `new/` that the daemon has not accepted yet.
struct WaitingRequest: Sendable {
  let name: String
  /// The names of its photos for their owner, and their bytes.
  let photos: [(file: String, bytes: Int)]
  let text: String?
}

extension Spool {
  /// The requests to a conversation among 1000 entries of `new/`, in order. A daemon that runs leaves fewer there.
  ///
  /// - Parameter inbox: only those from this inbox.
  func waitingRequests(to conversation: ConversationID, inbox: InboxID?) throws -> [WaitingRequest] {
    var names: [String] = []
    try new.forEachName { bytes in
      if let name = String(validating: bytes, as: UTF8.self), RequestName(name) != nil { names.append(name) }
      return names.count < 1000
    }
    return names.sorted().compactMap { name -> WaitingRequest? in
      // It may be accepted or removed meanwhile, or be invalid.
      guard let directory = try? new.directory(name), (try? directory.field("to")) == conversation.text,
        inbox == nil || (try? directory.field("from")) == inbox?.text, let files = try? directory.names()
      else { return nil }
      let text = try? directory.file("text").contents(limit: RequestLimits.textFileBytes)
      return WaitingRequest(
        name: name,
        photos: files.filter { $0.hasPrefix("photo") }.sorted().map { file in
          (PhotoName.original(file), (try? directory.entry(file)?.size) ?? 0)
        }, text: text.map(textWithoutNewline))
    }
  }
}
