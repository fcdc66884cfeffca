/// The chunks of a PNG (ISO/IEC 15948), without decoding.
struct PNGStructure {
  private(set) var size: PixelSize?
  private(set) var metadata = Metadata()
  /// There is picture data, complete or not.
  private(set) var hasPicture = false

  /// A limit beyond real files; later chunks are ignored.
  static let chunkLimit = 100_000

  private var hasStandardColors = false
  private var hasCodePoints = false
  private var codePoints: NamedColors?
  private var gamma: Double?
  private var primaries: NamedColors?

  init(of photo: [UInt8]) {
    var offset = 8
    for _ in 0..<Self.chunkLimit {
      let header = ByteReader(photo, min(offset, photo.count)..<photo.count)
      guard let length = header.uint32(at: 0), header.count >= 8 else { break }
      let name = String(decoding: photo[offset + 4..<offset + 8], as: UTF8.self)
      let contents = header.part(at: 8, count: length)
      read(name, contents)
      offset += 12 + length
      if name == "IEND" {
        metadata.readRest(ByteReader(photo, min(offset, photo.count)..<photo.count))
        break
      }
      guard offset < photo.count else { break }
    }
    nameColors()
  }

  private mutating func read(_ name: String, _ contents: ByteReader) {
    switch name {
    case "IHDR":
      if let width = contents.uint32(at: 0), let height = contents.uint32(at: 4), size == nil {
        size = PixelSize(width: width, height: height)
      }
    case "IDAT": hasPicture = true
    case "PLTE", "tRNS", "IEND", "sBIT", "bKGD", "pHYs", "hIST": break
    case "iCCP": metadata.mentionsProfile = true
    case "sRGB": hasStandardColors = true
    case "gAMA": gamma = contents.uint32(at: 0).map { Double($0) / 100_000 }
    case "cHRM": readPrimaries(contents)
    case "cICP": readCodePoints(contents)
    case "eXIf": metadata.readExif(contents)
    case "tEXt", "zTXt", "iTXt": readText(contents)
    case "acTL", "fcTL", "fdAT": metadata.add("further frames")
    default: metadata.add("application data")
    }
  }

  private mutating func readText(_ contents: ByteReader) {
    if contents.begins(with: "XML:com.adobe.xmp\0") {
      metadata.readXMP(contents)
    } else if contents.begins(with: "Raw profile type exif\0") || contents.begins(with: "Raw profile type APP1\0") {
      metadata.add("EXIF")
    } else if contents.begins(with: "Raw profile type iptc\0") {
      metadata.add("IPTC")
    } else {
      metadata.add("comment")
    }
  }

  private mutating func readPrimaries(_ contents: ByteReader) {
    let values = (0..<8).compactMap { contents.uint32(at: 4 * $0) }.map { Double($0) / 100_000 }
    guard values.count == 8 else { return }
    func point(_ index: Int) -> NamedColors.Point { NamedColors.Point(x: values[index], y: values[index + 1]) }
    primaries = NamedColors(red: point(2), green: point(4), blue: point(6), white: point(0))
  }

  private mutating func readCodePoints(_ contents: ByteReader) {
    guard let primaries = contents.byte(at: 0), let transfer = contents.byte(at: 1) else { return }
    hasCodePoints = true
    codePoints = NamedColors(primaries: Int(primaries), transfer: Int(transfer))
  }

  /// Numbers of ITU-T H.273 precede sRGB's chunk, which precedes gamma and primaries.
  private mutating func nameColors() {
    if hasCodePoints {
      metadata.namedColors = codePoints
    } else if hasStandardColors {
      metadata.namedColors = nil
    } else if gamma != nil || primaries != nil {
      var colors = primaries ?? .standard
      // Programs write 0.45455 for sRGB.
      if let gamma, gamma > 0.01, abs(gamma - 0.45455) > 0.005 { colors.curve = .power(min(1 / gamma, 10)) }
      metadata.namedColors = colors == .standard ? nil : colors
    }
  }

  /// Takes the profile after decompression; numbers of H.273 take precedence.
  mutating func take(profile: [UInt8]) {
    if !hasCodePoints { metadata.readProfile(profile) }
  }
}
