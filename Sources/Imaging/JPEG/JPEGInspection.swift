import Messages
import Photos

/// A JPEG's header data, once it has passed all limits on headers.
struct JPEGInspection {
  let metadata: Metadata
  /// As in `JPEGStructure`.
  let hiddenTransform: UInt8?

  init(of photo: [UInt8], limits: PhotoLimits) throws(DeliveryError) {
    let structure = JPEGStructure(of: photo)
    guard let frame = structure.frame else {
      throw structure.end == nil
        ? DeliveryError(.truncatedImage, "this JPEG ends before its picture begins; send the whole file")
        : DeliveryError(.unsupportedImage, "this JPEG has no picture, only tables; send a photo")
    }
    try Self.checkProcess(of: frame)
    let size = PixelSize(width: frame.width, height: frame.height)
    try Self.checkSize(size, scans: structure.scans, limits: limits)
    guard structure.scans > 0 else {
      throw DeliveryError(.truncatedImage, "this JPEG ends before its picture begins; send the whole file")
    }
    hiddenTransform = structure.hiddenTransform
    metadata = Metadata(ofJPEG: photo, structure: structure)
  }

  private static func checkProcess(of frame: JPEGStructure.Frame) throws(DeliveryError) {
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

  private static func checkSize(_ size: PixelSize, scans: Int, limits: PhotoLimits) throws(DeliveryError) {
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
