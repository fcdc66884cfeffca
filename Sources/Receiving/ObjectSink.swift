import DurableFiles
import HTTP
import Messages
import Spooling
import Synchronization

/// Appends the body of an answer to the partial object, up to the limit.
final class ObjectSink: HTTPSink {
  private struct State {
    var file: File?
    var count = 0
    var fault: DeliveryError?
    var head: HTTPResponse?
    /// The size of the whole object, if known.
    var total: Int?
  }

  private let part: PartialObject
  /// The bytes that the request skipped; nil for none.
  private let resumesAt: Int?
  /// The size limit of the whole object.
  private let limit: Int
  /// Whether the bytes may be resumed later.
  private let keepsParts: Bool
  private let host: String
  /// The sender's size of the object.
  private let announced: Int?
  /// Gets the fetched share of the object, 0 to 1.
  private let progress: @Sendable (Double) -> Void
  private let state = Mutex(State())

  init(
    _ part: PartialObject, resumesAt: Int?, limit: Int, keepsParts: Bool, host: String, announced: Int?,
    progress: @escaping @Sendable (Double) -> Void
  ) {
    (self.part, self.resumesAt, self.limit, self.keepsParts) = (part, resumesAt, limit, keepsParts)
    (self.host, self.announced, self.progress) = (host, announced, progress)
  }

  /// Why it stopped the transfer.
  var fault: DeliveryError? { state.withLock { $0.fault } }
  /// The answer whose body came or was refused.
  var head: HTTPResponse? { state.withLock { $0.head } }
  /// Whether the photo's body has begun.
  var hasBegun: Bool { state.withLock { $0.file != nil } }

  func begin(_ head: HTTPResponse) -> Bool {
    state.withLock { $0.head = head }
    // Bodies of other answers are useless.
    guard head.status == 200 || head.status == 206 else { return false }
    let declared = head.header("Content-Length").flatMap { Int($0) }
    return attempt { state in
      if head.status == 206 {
        guard let start = head.rangeStart, start == resumesAt else {
          throw DeliveryError(.network, "\(host) answered with another part of the photo than was asked for")
        }
        state.count = start
        state.file = try part.append()
      } else {
        state.file = try part.begin(validator: keepsParts ? head.strongTag : nil)
      }
      if let declared, declared > limit - state.count { throw tooLarge }
      state.total = declared.map { [count = state.count] in $0 + count } ?? announced
    }
  }

  func take(_ piece: UnsafeRawBufferPointer) -> Bool {
    attempt { state in
      state.count += piece.count
      if state.count > limit { throw tooLarge }
      try state.file?.write(Array(piece))
      if let total = state.total, total > 0 { progress(min(1, Double(state.count) / Double(total))) }
    }
  }

  private var tooLarge: DeliveryError {
    DeliveryError(.tooLarge, "\(host) has more than the \(limit) bytes that the photo may have")
  }

  private func attempt(_ body: (inout State) throws -> Void) -> Bool {
    state.withLock { state in
      if state.fault != nil { return false }
      do {
        try body(&state)
        return true
      } catch {
        state.fault = DeliveryError(storing: error)
      }
      return false
    }
  }
}

extension DeliveryError {
  /// The error of work that writes files: itself, or a fault of the local storage.
  init(storing error: any Error) {
    let isFull = (error as? FileError)?.isOutOfSpace == true
    self = error as? DeliveryError ?? DeliveryError(isFull ? .localStorageFull : .localStorageError, "\(error)")
  }
}

extension HTTPResponse {
  /// The start of a 206 answer's part (RFC 9110, section 14.4).
  fileprivate var rangeStart: Int? {
    guard let text = header("Content-Range"), text.hasPrefix("bytes ") else { return nil }
    return text.dropFirst(6).split(separator: "-").first.flatMap { Int($0) }
  }

  /// The entity tag, unless it is weak or invalid in a header. It is the only part of an answer that goes back into a
  /// request unchanged.
  fileprivate var strongTag: String? {
    guard let tag = header("ETag")?.utf8, 3...256 ~= tag.count, tag.first == UInt8(ascii: "\""), tag.last == tag.first,
      tag.dropFirst().dropLast().allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\"") })
    else { return nil }
    return String(tag)
  }
}
