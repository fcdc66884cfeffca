import CNATS

/// A message from a server. Nothing of it is trusted.
struct Reply: Sendable {
  let subject: String
  let reply: String?
  let bytes: [UInt8]
  /// The server's own status, such as 503; 0 for a message from a client.
  let status: Int
  let description: String?
  /// The subject in its stream, of a message that was read from there.
  let origin: String?
}

extension Reply {
  init(_ message: cnats_message) {
    subject = message.subject.map { String(cString: $0) } ?? ""
    reply = message.reply.map { String(cString: $0) }
    bytes = message.length == 0 ? [] : Array(UnsafeRawBufferPointer(start: message.bytes, count: message.length))
    status = Int(message.status)
    description = message.description.map { String(cString: $0) }
    origin = message.stream_subject.map { String(cString: $0) }
  }
}

/// Why a request has no reply.
enum RequestFault: Error, Equatable {
  /// Not sent: no server can be reached now.
  case away
  /// Not sent: larger than the servers take.
  case tooLarge
  /// No subscriber takes the subject.
  case noResponders
  /// It was sent, and nothing came within the time limit.
  case silent
  /// It may have been sent; the connection was lost.
  case broken
  /// It may have been sent; the caller's task was cancelled.
  case cancelled
}
