import CJPEG
import CPixels
import Messages

/// A decoded picture: 8-bit samples, interleaved, rows without padding.
struct Pixels {
  enum Colour: Int32 {
    case grey = 1
    case rgb = 2
    case ycc = 3
    case cmyk = 4
  }

  let width: Int
  let height: Int
  let channels: Int
  let colour: Colour
  /// CMYK as Adobe writes it: 0 is full ink.
  let isInverted: Bool
  let samples: [UInt8]

  /// The picture at another size. Both sides are at least 1.
  func resampled(to width: Int, _ height: Int) throws(DeliveryError) -> Pixels {
    if width == self.width && height == self.height { return self }
    var status: Int32 = 0
    let result = [UInt8](unsafeUninitializedCapacity: width * height * channels) { target, count in
      status = cpixels_resample(
        samples, Int32(self.width), Int32(self.height), Int32(channels), target.baseAddress, Int32(width), Int32(height)
      )
      count = width * height * channels
    }
    if status != 0 { throw DeliveryError(.imageLimits, "there is no memory to scale the photo; make it smaller") }
    return Pixels(
      width: width, height: height, channels: channels, colour: colour, isInverted: isInverted, samples: result)
  }

  /// The picture turned upright, as EXIF's `orientation` says.
  func upright(_ orientation: Int) -> Pixels {
    if orientation == 1 { return self }
    let isTurned = orientation >= 5
    let result = [UInt8](unsafeUninitializedCapacity: samples.count) { target, count in
      cpixels_orient(
        samples, Int32(width), Int32(height), Int32(channels), Int32(orientation), target.baseAddress)
      count = samples.count
    }
    return Pixels(
      width: isTurned ? height : width, height: isTurned ? width : height, channels: channels, colour: colour,
      isInverted: isInverted, samples: result)
  }

  /// The size within `side` pixels of the longer side, in proportion, never enlarged.
  func size(within side: Int) -> (width: Int, height: Int) { fit(width, height, within: side) }
}

/// `width` and `height` in proportion with neither above `side`, never enlarged, each at least 1.
func fit(_ width: Int, _ height: Int, within side: Int) -> (width: Int, height: Int) {
  let longer = max(width, height)
  if longer <= side { return (width, height) }
  func scaled(_ length: Int) -> Int { max(1, (length * side + longer / 2) / longer) }
  return (scaled(width), scaled(height))
}
