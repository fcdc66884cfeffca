import Messages
import Photos

/// A process that decodes photos. One thread uses it at a time, except for `end`.
final class DarkroomProcess: Sendable {
  /// The result of an order.
  enum Outcome {
    case answered(Result<PreparedPhoto, DeliveryError>)
    /// No answer; the process is gone.
    case died(Death)
    /// The process had ended before it got the photo.
    case wasGone
  }

  private let process: LockedProcess

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - program: the path of photospool-darkroom.
  ///   - memory: bytes that it may map beyond its initial ones.
  /// - Throws: `config_error` if there is no such program; `local_resources` if the kernel cannot start it.
  init(program: String, memory: Int) throws(DeliveryError) {
    process = try LockedProcess(program: program, "serve", memory: memory)
  }

  /// Prepares a photo and waits for it.
  ///
  /// - Parameter seconds: the processor time; the elapsed time may be three times as long.
  func prepare(_ photo: PhotoBytes, limits: PhotoLimits, seconds: Int) -> Outcome {
    let order = DarkroomOrder(limits: limits).encoded
    switch process.ask(
      order, file: photo.descriptor, limit: DarkroomAnswer.limit(limits), seconds: seconds)
    {
    case .answered(let bytes):
      guard let answer = DarkroomAnswer(encoded: bytes, limits: limits) else { return .died(process.bury(.nonsense)) }
      return .answered(answer.result)
    case .died(let death): return .died(death)
    case .wasGone: return .wasGone
    }
  }

  /// Kills it.
  func end() { process.end() }
}
