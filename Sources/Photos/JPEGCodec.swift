import CJPEG
import Messages

/// libjpeg-turbo in terms of `Pixels`. No pointer of the library leaves these functions.
enum JPEGCodec {
  /// Decodes at `eighths`/8 of the size.
  static func decode(
    _ bytes: [UInt8], eighths: Int, asRGB: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> Pixels {
    var raw = cjpeg_pixels()
    let (status, message) = withMessage { message in
      cjpeg_decode(bytes, bytes.count, Int32(eighths), asRGB ? 1 : 0, limits.decoder, &raw, message)
    }
    try check(status, message, limits)
    defer { cjpeg_free(raw.samples) }
    let count = Int(raw.width) * Int(raw.height) * Int(raw.channels)
    guard let colour = Pixels.Colour(rawValue: raw.colour) else {
      throw DeliveryError(.unsupportedImage, "the JPEG has colours of an unknown kind; convert it to an ordinary JPEG")
    }
    return Pixels(
      width: Int(raw.width), height: Int(raw.height), channels: Int(raw.channels), colour: colour,
      isInverted: raw.is_inverted != 0, samples: Array(UnsafeBufferPointer(start: raw.samples, count: count)))
  }

  /// Encodes grey, RGB or YCC pixels as a baseline JPEG with 4:2:0 chroma.
  static func encode(_ pixels: Pixels, quality: Int) throws(DeliveryError) -> [UInt8] {
    try collect { bytes, size, message in
      var samples = pixels.samples
      return samples.withUnsafeMutableBufferPointer { buffer in
        var raw = cjpeg_pixels(
          samples: buffer.baseAddress, width: Int32(pixels.width), height: Int32(pixels.height),
          channels: Int32(pixels.channels), colour: pixels.colour.rawValue, is_inverted: 0)
        return cjpeg_encode(&raw, Int32(quality), bytes, size, message)
      }
    }
  }

  /// A JPEG with the same coefficients and nothing else in it.
  static func copy(_ bytes: [UInt8], limits: PhotoLimits) throws(DeliveryError) -> [UInt8] {
    try collect(limits) { copy, size, message in cjpeg_copy(bytes, bytes.count, limits.decoder, copy, size, message) }
  }

  private typealias Output = UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>

  private static func collect(
    _ limits: PhotoLimits = PhotoLimits(),
    _ body: (Output, UnsafeMutablePointer<Int>, UnsafeMutablePointer<CChar>?) -> Int32
  ) throws(DeliveryError) -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    var size = 0
    let (status, message) = withMessage { body(&bytes, &size, $0) }
    try check(status, message, limits)
    defer { cjpeg_free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: size))
  }

  private static func withMessage(_ body: (UnsafeMutablePointer<CChar>?) -> Int32) -> (Int32, String) {
    var message = [CChar](repeating: 0, count: 200)
    let status = message.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    return (status, String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
  }

  private static func check(_ status: Int32, _ message: String, _ limits: PhotoLimits) throws(DeliveryError) {
    switch cjpeg_status(UInt32(status)) {
    case CJPEG_OK: return
    case CJPEG_TRUNCATED:
      throw DeliveryError(.truncatedImage, "the JPEG ends too early: part of the picture is missing; copy it again")
    case CJPEG_SCANS:
      throw DeliveryError(
        .imageLimits, "the JPEG has more than \(limits.scans) scans; save it again as an ordinary JPEG")
    case CJPEG_MEMORY:
      throw DeliveryError(
        .imageLimits, "the JPEG takes more than \(limits.decoderMemory) bytes of memory to decode; make it smaller")
    default:
      throw DeliveryError(.unsupportedImage, "the JPEG is damaged: \(message); copy it again or save it anew")
    }
  }
}

extension PhotoLimits {
  fileprivate var decoder: cjpeg_limits { cjpeg_limits(scans: Int32(scans), memory: decoderMemory) }
}
