import Glibc
import Messages
import Photos

/// Finds the best quality at which a picture fits into a size limit, in few encodings.
struct SizeSearch {
  let limits: PhotoLimits

  struct Found {
    let jpeg: [UInt8]
    let quality: Int
    let size: PixelSize
  }

  /// Lowers the quality from best to worst, then the size of the picture.
  ///
  /// - Throws: `too_large_after_compress` if even a picture of a few pixels is too large.
  func fit(_ picture: Picture) throws(DeliveryError) -> Found {
    var (picture, quality) = (picture, limits.bestQuality)
    var tried: (quality: Int, bytes: Int)?
    while true {
      let bytes: Int
      switch JPEGEncoder.encode(picture, quality: quality, limit: limits.outputBytes) {
      case .fits(let jpeg): return Found(jpeg: jpeg, quality: quality, size: picture.size)
      case .exceeds(let size): bytes = size
      case nil: throw DeliveryError(.imageLimits, "there is no memory to encode this photo; try again when there is")
      }
      if quality > limits.worstQuality {
        let failed = (quality, bytes)
        quality = next(after: failed, before: tried)
        tried = failed
      } else if let smaller = smaller(picture.size, having: bytes) {
        (picture, quality, tried) = (picture.resized(to: smaller), limits.worstQuality, nil)
      } else {
        throw DeliveryError(
          .tooLargeAfterCompress,
          "this photo cannot be made smaller than \(limits.outputBytes) bytes; raise the limit of what is sent")
      }
    }
  }

  /// Predicts a quality that fits. A JPEG's size is a power of its quantisation factor; the exponent is measured from
  /// two encodings, and before that an average of many photos.
  private func next(after failed: (quality: Int, bytes: Int), before: (quality: Int, bytes: Int)?) -> Int {
    var exponent = 0.6
    if let before, before.bytes > failed.bytes {
      let measured =
        log(Double(before.bytes) / Double(failed.bytes)) / log(steps(failed.quality) / steps(before.quality))
      exponent = min(max(measured, 0.3), 1)
    }
    // A margin of two hundredths makes a second miss rare, and costs less than half a step of quality.
    let wanted = Double(failed.bytes) / (Double(limits.outputBytes) * 0.98)
    let factor = steps(failed.quality) * pow(wanted, 1 / exponent)
    let quality = factor <= 100 ? (200 - factor) / 2 : 5000 / factor
    return min(max(Int(quality.rounded(.down)), limits.worstQuality), failed.quality - 1)
  }

  /// libjpeg's quantisation factor for a quality, in per cent.
  private func steps(_ quality: Int) -> Double {
    quality < 50 ? 5000 / Double(quality) : max(1, 200 - 2 * Double(quality))
  }

  private func smaller(_ size: PixelSize, having bytes: Int) -> PixelSize? {
    guard size.longer > 8, limits.outputBytes > 0 else { return nil }
    let factor = (Double(limits.outputBytes) / Double(bytes)).squareRoot() * 0.97
    return size.fitted(into: max(8, min(size.longer - 1, Int(Double(size.longer) * factor))))
  }
}
