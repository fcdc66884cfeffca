import Messages

/// What became of a process that gave no answer.
enum Death: Error {
  /// It ended: a fault of a decoder, or no memory.
  case crashed
  /// It took more time than a photo may take.
  case tooSlow
  /// Its answer was none.
  case nonsense

  /// What is said of a photo that did it twice.
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
