import CPNG
import CPixels
import Messages
import Photos

/// Decodes a PNG row by row, on white.
final class PNGDecoder: PhotoDecoder {
  let metadata: Metadata
  let size: PixelSize
  private let picture: PNGPicture
  private let channels: Int

  var orientation: Orientation { metadata.exif?.orientation ?? .upright }
  var samples: SampleKind { channels < 3 ? .grey : .ycc(.jfif) }

  init(_ photo: PhotoView, limits: PhotoLimits) throws(DeliveryError) {
    var structure = PNGStructure(of: photo.bytes)
    guard let size = structure.size, structure.hasPicture else { throw .cutOff("PNG") }
    try limits.check(size)
    let picture = try PNGPicture(photo.memory)
    if let profile = picture.profile { structure.take(profile: profile) }
    self.size = size
    self.picture = picture
    metadata = structure.metadata
    channels = Int(withUnsafePointer(to: picture.samples) { cpng_channels($0) })
  }

  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    let rows = try PNGRows(picture, size: size, limits: limits)
    if channels >= 3 {
      let bank = ResamplerBank(ofPixels: size, target: target, orientation: orientation)
      try bank.feedPixels(channels: channels) { (y) throws(DeliveryError) in try rows.pair(y) }
      return bank.planes
    }
    let component = Component(size: size, extent: PlaneResampler.Extent(of: size))
    let bank = ResamplerBank([component], target: target, orientation: orientation, halvesChroma: halvesChroma)
    try bank.feedTogether { (y, planes) throws(DeliveryError) in
      cpixels_split(try rows.pair(y).0, Int32(channels), planes, Int32(size.width))
    }
    return bank.planes
  }
}
