import Messages
import Photos

/// An opened photo of one format: its header is read and within the limits, and at most one
/// tile is decoded.
protocol PhotoDecoder {
  /// As stored.
  var size: PixelSize { get }
  /// How the decoder's output is turned upright.
  var orientation: Orientation { get }
  /// After decoding, the range may be another.
  var samples: SampleKind { get }
  var metadata: Metadata { get }

  /// Decodes all components to planes for a picture of `size`, mirrored as `orientation` says and not transposed.
  /// Called once.
  ///
  /// - Parameter halvesChroma: the second and third plane get half the width and height.
  func planes(
    size: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane]

  /// The photo with its own picture data and nothing else, bit for bit; nil if that is impossible.
  func copy(limits: PhotoLimits) -> [UInt8]?
}

extension PhotoDecoder {
  /// Only JPEGs are sent, so other formats are encoded.
  func copy(limits: PhotoLimits) -> [UInt8]? { nil }
}

/// The bytes of a photo, as an array and as a pointer, during its preparation.
struct PhotoView {
  let bytes: [UInt8]
  let memory: UnsafeBufferPointer<UInt8>
}

extension PhotoFormat {
  /// Opens a photo with the decoder of its format.
  ///
  /// - Throws: `unsupported_image`, `truncated_image` or `image_limits`.
  static func open(_ photo: PhotoView, limits: PhotoLimits) throws(DeliveryError) -> any PhotoDecoder {
    let count = photo.bytes.count
    guard count <= limits.inputBytes else {
      throw DeliveryError(
        .imageLimits, "this photo has \(count) bytes, more than \(limits.inputBytes); send a smaller copy of it")
    }
    guard count > 0 else { throw DeliveryError(.unsupportedImage, "this file is empty; send a photo") }
    switch PhotoFormat(of: photo.bytes) {
    case .jpeg: return try JPEGDecoder(photo, limits: limits)
    case .png: return try PNGDecoder(photo, limits: limits)
    case .gif: return try GIFDecoder(photo, limits: limits)
    case .webp: return try WebPDecoder(photo, limits: limits)
    case .heic: return try HEIFDecoder(photo, name: "HEIC", limits: limits)
    case .avif: return try HEIFDecoder(photo, name: "AVIF", limits: limits)
    case let other?:
      if let raw = photo.bytes.kindOfRaw { throw DeliveryError(.unsupportedImage, raw) }
      throw DeliveryError(
        .unsupportedImage, "this is \(other.nameWithArticle); save it as a JPEG, PNG, HEIC, AVIF, WebP or GIF")
    case nil:
      if let raw = photo.bytes.kindOfRaw { throw DeliveryError(.unsupportedImage, raw) }
      let kind = photo.bytes.kindOfStranger ?? "this file is not an image"
      throw DeliveryError(.unsupportedImage, "\(kind); send a JPEG, PNG, HEIC, AVIF, WebP or GIF")
    }
  }
}

extension PhotoLimits {
  /// Refuses a picture with too many pixels or none.
  func check(_ size: PixelSize) throws(DeliveryError) {
    guard size.width > 0, size.height > 0 else {
      throw DeliveryError(.unsupportedImage, "this picture has no pixels; send another one")
    }
    guard size.width <= Int(Int32.max), size.height <= Int(Int32.max), size.pixels <= pixels else {
      throw DeliveryError(
        .imageLimits,
        "this photo has \(size.pixels) pixels (\(size.width)x\(size.height)), more than \(pixels); "
          + "send a smaller copy of it")
    }
  }
}

extension DeliveryError {
  /// A part of the picture is missing.
  static func cutOff(_ format: String) -> DeliveryError {
    DeliveryError(.truncatedImage, "this \(format) ends before its picture does; send the whole file")
  }

  /// The picture's data is invalid; `reason` is the library's.
  static func damaged(_ format: String, _ reason: String) -> DeliveryError {
    DeliveryError(.truncatedImage, "this \(format) is damaged (\(reason)); send it again from the original")
  }

  /// A kind of picture in a known format that nothing here decodes.
  static func notDecoded(_ format: String, _ reason: String) -> DeliveryError {
    DeliveryError(.unsupportedImage, "this \(format) is of a kind that is not decoded (\(reason)); save it as a JPEG")
  }

  static func tooMuchMemory(_ format: String, _ limits: PhotoLimits) -> DeliveryError {
    DeliveryError(
      .imageLimits,
      "decoding this \(format) would take more than \(limits.decoderBytes) bytes of memory; send a smaller one")
  }
}
