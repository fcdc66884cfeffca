/// The chunks of a WebP (RIFF, RFC 9649), without decoding.
struct WebPStructure {
  private(set) var metadata = Metadata()

  static let chunkLimit = 100_000

  init(of photo: [UInt8]) {
    var file = ByteReader(photo, photo.indices)
    file.isLittleEndian = true
    let end = min(photo.count, 8 + (file.uint32(at: 4) ?? 0))
    var offset = 12
    var frames = 0
    for _ in 0..<Self.chunkLimit {
      guard offset + 8 <= end, let length = file.uint32(at: offset + 4) else { break }
      let contents = file.part(at: offset + 8, count: length)
      switch String(decoding: photo[offset..<offset + 4], as: UTF8.self) {
      case "VP8 ", "VP8L", "VP8X", "ALPH", "ANIM": break
      case "ANMF":
        frames += 1
        if frames == 2 { metadata.add("further frames") }
      case "ICCP": metadata.readProfile(Array(photo[contents.range]))
      // Some programs add JPEG's prefix.
      case "EXIF": metadata.readExif(contents.begins(with: "Exif\0\0") ? contents.dropFirst(6) : contents)
      case "XMP ": metadata.readXMP(contents)
      default: metadata.add("application data")
      }
      offset += 8 + length + length % 2
    }
    metadata.readRest(file.dropFirst(max(end, min(offset, photo.count))))
  }
}
