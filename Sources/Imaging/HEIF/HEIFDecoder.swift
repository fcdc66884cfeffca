import Messages
import Photos

/// Decodes the picture of a HEIC or AVIF file: its own codec's planes, tile by tile, or libheif's picture if only
/// libheif can put it together. The file's own properties crop, turn and mirror it; the orientation in its EXIF is
/// then already applied.
final class HEIFDecoder: PhotoDecoder {
  let metadata: Metadata
  let size: PixelSize
  let orientation: Orientation
  /// Known for sure once the picture is decoded.
  private(set) var samples: SampleKind
  private let source: Source

  private enum Source {
    /// With the first tile, if it was decoded for its colours.
    case coded(HEIFPlan, HEIFLayout, (any CodedPicture)?)
    case library(HEIFLibrary)
  }

  private let name: String

  init(_ photo: PhotoView, name: String, limits: PhotoLimits) throws(DeliveryError) {
    self.name = name
    let structure = HEIFStructure(of: photo.bytes)
    guard structure.count <= limits.items else {
      throw DeliveryError(
        .imageLimits,
        "this \(name) lists \(structure.count) items, more than \(limits.items); save it again as an ordinary photo")
    }
    guard structure.items != nil || !structure.hasFilm else {
      throw DeliveryError(
        .unsupportedImage, "this \(name) is a film without a still picture; send a picture of it as a JPEG")
    }
    var metadata = structure.metadata
    var plan: HEIFPlan?
    if let items = structure.items {
      // Also if only a description is cut off: the rest of the file may still arrive.
      guard !items.items.values.contains(where: \.isCut) else { throw .cutOff(name) }
      plan = try HEIFPlan(of: items, name: name)
      if let plan {
        metadata.namedColors = plan.colors.flatMap(NamedColors.init(numbers:))
        metadata.readHEIF(items, plan: plan)
      }
    }
    self.metadata = metadata
    if let plan, let layout = plan.layout, let found = try Self.colors(of: plan, layout, name, limits) {
      (size, orientation, samples) = (plan.window.size, plan.window.orientation, found.samples)
      source = .coded(plan, layout, found.first)
    } else {
      let library = try HEIFLibrary(photo, item: plan?.item, name: name, limits: limits)
      (size, orientation, samples) = (library.size, .upright, .rgb)
      source = .library(library)
    }
  }

  /// The meaning of the samples, from the item or from the stream of its first tile; nil for a matrix that only libheif
  /// converts. Checks the limits.
  private static func colors(
    of plan: HEIFPlan, _ layout: HEIFLayout, _ name: String, _ limits: PhotoLimits
  ) throws(DeliveryError) -> (samples: SampleKind, first: (any CodedPicture)?)? {
    // The decoder works on the picture before cropping.
    try limits.check(layout.size)
    try limits.check(layout.tile)
    guard layout.tiles.count <= limits.items else {
      throw DeliveryError(
        .imageLimits,
        "this \(name) has \(layout.tiles.count) tiles, more than \(limits.items); save it again as an ordinary photo")
    }
    try limits.check(plan.window.size)
    guard layout.bytes + (plan.alpha?.bytes ?? 0) <= limits.decoderBytes else { throw .tooMuchMemory(name, limits) }
    var first: (any CodedPicture)?
    let colors: CodedColors
    if let matrix = plan.colors?.uint16(at: 4), let range = plan.colors?.byte(at: 6) {
      colors = CodedColors(matrix: matrix, isFullRange: range & 0x80 != 0)
    } else {
      let picture = try layout.format.decode(layout.tiles[0], size: layout.tile, name: name, limits: limits)
      (first, colors) = (picture, picture.stream)
    }
    if colors.matrix == 0, layout.format.sharing?.pixels == 1 { return (.rgb, first) }
    return YCCEncoding(matrix: colors.matrix, isFullRange: colors.isFullRange).map { (.ycc($0), first) }
  }

  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    switch source {
    case .library(let library):
      return try library.planes(size: target, orientation: orientation, halvesChroma: halvesChroma, limits: limits)
    case .coded(let plan, let layout, let first):
      let feed = HEIFFeed(plan, layout, first: first, samples: samples, name: name, limits: limits)
      let planes = try feed.planes(size: target, orientation: orientation, halvesChroma: halvesChroma)
      samples = feed.samples
      return planes
    }
  }
}

extension NamedColors {
  fileprivate init?(numbers: ByteReader) {
    guard let primaries = numbers.uint16(at: 0), let transfer = numbers.uint16(at: 2) else { return nil }
    self.init(primaries: primaries, transfer: transfer)
  }
}
