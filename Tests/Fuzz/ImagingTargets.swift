@testable import Imaging

extension FuzzTarget {
  static let imaging: [FuzzTarget] = [photoStructure, exif]

  static let photoStructure = FuzzTarget(
    "photo-structure",
    words: [
      "\u{FF}", "JFIF\0", "Exif\0\0", "ICC_PROFILE\0", "http://ns.adobe.com/xap/1.0/\0", "Photoshop 3.0\0", "8BIM",
      "IHDR", "iCCP", "eXIf", "cICP", "cHRM", "gAMA", "tEXt", "IDAT", "IEND", "GIF89a", "NETSCAPE2.0", "RIFF", "WEBP",
      "VP8X", "EXIF", "ftyp", "heic", "meta", "iprp", "ipco", "ispe", "iloc", "iinf",
    ]
  ) { input throws(BrokenProperty) in
    let jpeg = JPEGStructure(of: input)
    try hold(jpeg.segments.count <= JPEGStructure.segmentLimit, "it has \(jpeg.segments.count) segments")
    for segment in jpeg.segments {
      try hold(0...input.count ~= segment.contents.upperBound, "a segment ends behind the photo")
    }
    try hold((0...input.count).contains(jpeg.end ?? 0), "it ends behind itself")
    try check(Metadata(ofJPEG: input, structure: jpeg))
    try check(PNGStructure(of: input).metadata)
    try check(GIFStructure(of: input).metadata)
    try check(WebPStructure(of: input).metadata)
    let heif = HEIFStructure(of: input)
    try check(heif.metadata)
    if let items = heif.items, let plan = try? HEIFPlan(of: items, name: "HEIC"), let layout = plan.layout {
      let (window, size) = (plan.window, layout.size)
      try hold(window.x >= 0 && window.x + window.size.width <= size.width, "the window is beside the picture")
      try hold(window.y >= 0 && window.y + window.size.height <= size.height, "the window is below the picture")
      try hold(layout.tiles.count == layout.columns * layout.rows, "the last row of tiles is not whole")
    }
    _ = try? GIFCodes(input, at: 0).indices(count: 1000)
  }

  private static func check(_ metadata: Metadata) throws(BrokenProperty) {
    try hold(metadata.profile?.count ?? 0 <= Metadata.profileLimit, "the profile is too large")
    for name in metadata.names { try holdPlain(name) }
  }

  static let exif = FuzzTarget("exif", words: ["II*\0", "MM\0*", "\u{1}\u{12}", "\u{3}\0", "\0\0\0\u{8}"]) {
    input throws(BrokenProperty) in
    let exif = Exif(ByteReader(input, input.indices))
    // Its pictures have two orientations, each its own inverse.
    let size = PixelSize(width: 3, height: 2)
    try hold(exif.orientation.turned(exif.orientation.turned(size)) == size, "a turn cannot be taken back")
  }
}
