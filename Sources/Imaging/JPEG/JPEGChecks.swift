import Messages
import Photos

extension JPEGStructure {
  /// Refuses a JPEG that is not decoded, and one whose headers exceed a limit.
  func check(_ limits: PhotoLimits) throws(DeliveryError) {
    guard let frame else {
      throw end == nil
        ? DeliveryError(.truncatedImage, "this JPEG ends before its picture begins; send the whole file")
        : DeliveryError(.unsupportedImage, "this JPEG has no picture, only tables; send a photo")
    }
    try Self.checkProcess(of: frame)
    let size = PixelSize(width: frame.width, height: frame.height)
    try checkSize(size, limits)
    guard scans > 0 else {
      throw DeliveryError(.truncatedImage, "this JPEG ends before its picture begins; send the whole file")
    }
  }

  private static func checkProcess(of frame: Frame) throws(DeliveryError) {
    let kind: String? =
      switch frame.marker {
      case 0xC3, 0xC7, 0xCB, 0xCF: "a lossless JPEG"
      case 0xC5, 0xC6, 0xCD, 0xCE: "a hierarchical JPEG"
      case 0xC9, 0xCA: "an arithmetic-coded JPEG"
      default: [12, 16].contains(frame.precision) ? "a \(frame.precision)-bit JPEG" : nil
      }
    if let kind {
      throw DeliveryError(
        .unsupportedImage, "this is \(kind), which few programs can show; save it as an ordinary JPEG")
    }
    guard frame.precision == 8 else {
      throw DeliveryError(.unsupportedImage, "this JPEG's header makes no sense; send it again from the original")
    }
    guard [1, 3, 4].contains(frame.components) else {
      throw DeliveryError(
        .unsupportedImage,
        "this JPEG has \(frame.components) colour components, not 1, 3 or 4; save it as an ordinary JPEG")
    }
    guard frame.width > 0, frame.height > 0 else {
      throw DeliveryError(.unsupportedImage, "this JPEG does not say how large it is; save it as an ordinary JPEG")
    }
  }

  private func checkSize(_ size: PixelSize, _ limits: PhotoLimits) throws(DeliveryError) {
    try limits.check(size)
    guard scans <= limits.scans else {
      throw DeliveryError(
        .imageLimits, "this JPEG has \(scans) scans, more than \(limits.scans); save it again as an ordinary JPEG")
    }
    guard size.pixels * max(1, scans) <= limits.pixelScans else {
      throw DeliveryError(
        .imageLimits,
        "this JPEG has \(scans) scans of \(size.pixels) pixels, more than \(limits.pixelScans) in all; "
          + "save it again as an ordinary JPEG")
    }
  }
}
