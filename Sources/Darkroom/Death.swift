import Messages

/// Why a process gave no answer.
enum Death: Error {
  /// A crash of a decoder, or no memory.
  case crashed
  /// It exceeded the time limit.
  case tooSlow
  /// Its answer was invalid.
  case nonsense

  /// The error for a photo that caused it twice.
  func sentence(seconds: Int) -> DeliveryError {
    switch self {
    case .crashed:
      DeliveryError(
        .unsupportedImage, "decoding this photo crashes or takes too much memory; save it again as an ordinary JPEG")
    case .tooSlow:
      DeliveryError(
        .imageLimits, "decoding this photo takes more than \(seconds) s; save it again as an ordinary JPEG")
    case .nonsense:
      DeliveryError(.unsupportedImage, "decoding this photo goes wrong; save it again as an ordinary JPEG")
    }
  }
}
