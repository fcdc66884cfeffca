import Messages
import Photos

/// A picture as its codec stores it: planes of luma and colour differences, or of green, blue and red.
protocol CodedPicture: AnyObject {
  /// The size of a plane; nil if there is none of this number.
  func size(_ plane: Int) -> PixelSize?
  /// Bits of a sample. More than eight are stored in two bytes, in the machine's order.
  var bits: Int { get }
  /// The numbers of H.273 in the stream.
  var stream: CodedColors { get }
  /// A row, valid as long as the picture.
  func row(_ y: Int, of plane: Int) -> UnsafeRawPointer?
}

struct CodedColors {
  var matrix: Int
  var isFullRange: Bool
}

/// The codec of an item and its sampling, from its configuration.
struct CodedFormat: Equatable {
  enum Codec { case hevc, av1 }

  let codec: Codec
  /// Samples across and down that share one sample of the colour differences; none without colours.
  let sharing: PixelSize?
  let sampleBytes: Int

  /// nil for other codecs, and without a configuration.
  init?(of item: HEIFItems.Item) {
    switch item.type {
    case "hvc1":
      guard let configuration = item.property("hvcC"), let chroma = configuration.byte(at: 16),
        let depth = configuration.byte(at: 17)
      else { return nil }
      codec = .hevc
      sampleBytes = depth & 7 == 0 ? 1 : 2
      switch chroma & 3 {
      case 1: sharing = PixelSize(width: 2, height: 2)
      case 2: sharing = PixelSize(width: 2, height: 1)
      case 3: sharing = PixelSize(width: 1, height: 1)
      default: sharing = nil
      }
    case "av01":
      guard let flags = item.property("av1C")?.byte(at: 2) else { return nil }
      codec = .av1
      sampleBytes = flags & 0x40 == 0 ? 1 : 2
      sharing = flags & 0x10 != 0 ? nil : PixelSize(width: flags & 8 == 0 ? 1 : 2, height: flags & 4 == 0 ? 1 : 2)
    default: return nil
    }
  }

  /// The memory for a decoded picture: its planes, and one byte a pixel for the decoder's notes.
  func bytes(of size: PixelSize) -> Int {
    let chroma = sharing.map { 2 * size.pixels / $0.pixels } ?? 0
    return (size.pixels + chroma) * sampleBytes + size.pixels
  }

  /// Decodes an item, whose size is known.
  func decode(
    _ item: HEIFItems.Item, size: PixelSize, name: String, limits: PhotoLimits
  ) throws(DeliveryError) -> any CodedPicture {
    guard !item.data.isEmpty else {
      let reason = item.isBorrowed ? "is made of the data of other items" : "is not in the file itself"
      throw DeliveryError(.unsupportedImage, "the picture of this \(name) \(reason); save it as a JPEG")
    }
    let picture: any CodedPicture =
      switch codec {
      case .hevc: try HEVCPicture(item, name: name, limits: limits)
      case .av1: try AV1Picture(item, name: name, limits: limits)
      }
    let chroma = sharing.map { size.shared(by: $0) }
    guard picture.size(0) == size, picture.size(1) == chroma, picture.size(2) == chroma, (8...16).contains(picture.bits)
    else { throw .damaged(name, "its picture does not have the size in its header") }
    return picture
  }
}
