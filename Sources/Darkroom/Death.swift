/// Why a process gave no answer.
enum Death: Error {
  /// A crash of a decoder, or no memory.
  case crashed
  /// It exceeded the time limit.
  case tooSlow
  /// Its answer was invalid.
  case nonsense

  /// A clause about `work` that caused it twice.
  func sentence(_ work: String, seconds: Int) -> String {
    switch self {
    case .crashed: "\(work) crashes or takes too much memory"
    case .tooSlow: "\(work) takes more than \(seconds) s"
    case .nonsense: "\(work) goes wrong"
    }
  }
}
