import Messages
import Photos

/// A photo of one format, opened: its header is read and within the limits, and nothing is decoded yet.
protocol PhotoDecoder {
  /// As the file stores it.
  var size: PixelSize { get }
  /// How what the decoder gives is turned upright.
  var orientation: Orientation { get }
  var samples: SampleKind { get }
  var metadata: Metadata { get }

  /// Decodes all components to planes for a picture of `size`, mirrored as `orientation` asks and not yet transposed.
  /// It is called once.
  ///
  /// - Parameter halvesChroma: the second and third plane are made for a picture of half the width and height.
  func planes(
    size: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane]

  /// The photo with its own picture data and nothing else, bit for bit; nil when it cannot be kept so.
  func copy(limits: PhotoLimits) -> [UInt8]?
}

extension PhotoDecoder {
  /// Only JPEGs are sent, so that others have to be encoded.
  func copy(limits: PhotoLimits) -> [UInt8]? { nil }
}

/// The bytes of a photo, as an array and in their place in memory, for as long as its preparation takes.
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
    case .heic: return try HEIFDecoder(photo, limits: limits)
    case let other?:
      throw DeliveryError(
        .unsupportedImage,
        "this is \(other.nameWithArticle); photos can be JPEG, PNG, HEIC, WebP or GIF, so save it as one of these")
    case nil:
      let kind = photo.bytes.kindOfStranger ?? "this file is not an image"
      throw DeliveryError(.unsupportedImage, "\(kind); send a JPEG, PNG, HEIC, WebP or GIF")
    }
  }
}

extension PhotoLimits {
  /// Refuses a picture of too many pixels, or of none.
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
  /// Part of the picture is missing.
  static func cutOff(_ format: String) -> DeliveryError {
    DeliveryError(.truncatedImage, "this \(format) ends before its picture does; send the whole file")
  }

  /// The data of the picture make no sense; `reason` is the library's word.
  static func damaged(_ format: String, _ reason: String) -> DeliveryError {
    DeliveryError(.truncatedImage, "this \(format) is damaged (\(reason)); send it again from the original")
  }

  static func tooMuchMemory(_ format: String, _ limits: PhotoLimits) -> DeliveryError {
    DeliveryError(
      .imageLimits,
      "decoding this \(format) would take more than \(limits.decoderBytes) bytes of memory; send a smaller one")
  }
}
