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
  private let resumesAt: Int?
  private let limit: Int
  private let keepsParts: Bool
  private let host: String
  private let announced: Int?
  private let progress: @Sendable (Double) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - resumesAt: the bytes that the request skipped; nil for none.
  ///   - limit: the size limit of the whole object.
  ///   - keepsParts: whether the bytes may be resumed later.
  ///   - announced: the sender's size of the object.
  ///   - progress: gets the fetched share of the object, 0 to 1.
  init(
    _ part: PartialObject, resumesAt: Int?, limit: Int, keepsParts: Bool, host: String, announced: Int? = nil,
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) {
    self.part = part
    self.resumesAt = resumesAt
    self.limit = limit
    self.keepsParts = keepsParts
    self.host = host
    self.announced = announced
    self.progress = progress
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
      } catch let error as DeliveryError {
        state.fault = error
      } catch let error as FileError {
        state.fault = DeliveryError(
          error.isOutOfSpace ? .localStorageFull : .localStorageError, error.description)
      } catch {
        state.fault = DeliveryError(.localStorageError, "\(error)")
      }
      return false
    }
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
