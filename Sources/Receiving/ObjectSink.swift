import DurableFiles
import HTTP
import Messages
import Spooling
import Synchronization

/// Writes the body of one answer into the file of what came so far, and no more of it than is allowed.
final class ObjectSink: HTTPSink {
  private struct State {
    var file: File?
    var count = 0
    var fault: DeliveryError?
    var head: HTTPResponse?
    /// Bytes of the whole object; nil when nobody said.
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
  ///   - resumesAt: how many bytes are there that were asked to be left out; nil for none.
  ///   - limit: bytes of the whole object.
  ///   - keepsParts: what comes may be gone on with later.
  ///   - announced: bytes of the object, by its sender's word.
  ///   - progress: is told the part of the object that is there, 0 to 1.
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

  /// Why it wanted no more.
  var fault: DeliveryError? { state.withLock { $0.fault } }
  /// The answer whose body came, or was not wanted.
  var head: HTTPResponse? { state.withLock { $0.head } }
  /// Whether a body came that is the photo's.
  var hasBegun: Bool { state.withLock { $0.file != nil } }

  func begin(_ head: HTTPResponse) -> Bool {
    state.withLock { $0.head = head }
    // The body of any other answer is of no use to us.
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
  /// Where the part begins that a 206 has (RFC 9110, section 14.4).
  fileprivate var rangeStart: Int? {
    guard let text = header("Content-Range"), text.hasPrefix("bytes ") else { return nil }
    return text.dropFirst(6).split(separator: "-").first.flatMap { Int($0) }
  }

  /// The entity tag, unless it is a weak one, which says nothing of single bytes, or holds what a header that we send may
  /// not: it is the one thing of an answer that goes back into a request as it came.
  fileprivate var strongTag: String? {
    guard let tag = header("ETag")?.utf8, 3...256 ~= tag.count, tag.first == UInt8(ascii: "\""), tag.last == tag.first,
      tag.dropFirst().dropLast().allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\"") })
    else { return nil }
    return String(tag)
  }
}
