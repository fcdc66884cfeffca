import Foundation
import Imaging
import Photos
import TestSupport
import Testing

/// Marked words are written wherever a format can hold them; none may come out.
@Suite struct PrivacyTests {
  /// Tags that exiftool writes into every format, as far as it can hold them.
  private static let tags = [
    "Make=PLANTEDMAKE", "Model=PLANTEDMODEL", "Software=PLANTEDSOFTWARE", "Artist=PLANTEDARTIST",
    "Copyright=PLANTEDCOPYRIGHT", "ImageDescription=PLANTEDDESCRIPTION", "XPTitle=PLANTEDWIDETITLE",
    "XPAuthor=PLANTEDWIDEAUTHOR", "UserComment=PLANTEDUSERCOMMENT", "ExifIFD:SerialNumber=PLANTEDSERIAL",
    "LensSerialNumber=PLANTEDLENS", "OwnerName=PLANTEDOWNER", "ImageUniqueID=PLANTEDUNIQUE",
    "MakerNoteUnknownText=PLANTEDMAKERNOTE", "DateTimeOriginal=2031:07:08 09:10:11", "GPSLatitude=47.5",
    "GPSLatitudeRef=N", "GPSLongitude=8.7", "GPSLongitudeRef=E", "GPSAreaInformation=PLANTEDAREA",
    "GPSProcessingMethod=PLANTEDMETHOD", "XMP-dc:Creator=PLANTEDCREATOR", "XMP-xmpMM:DocumentID=PLANTEDDOCUMENT",
    "XMP-exif:GPSLatitude=47.5", "IPTC:City=PLANTEDCITY", "IPTC:By-line=PLANTEDBYLINE", "Comment=PLANTEDCOMMENT",
  ]

  private static let inEXIF = [
    "MAKE", "MODEL", "SOFTWARE", "ARTIST", "COPYRIGHT", "DESCRIPTION", "USERCOMMENT", "SERIAL", "LENS", "OWNER",
    "UNIQUE", "MAKERNOTE", "AREA", "METHOD", "THUMBNAIL",
  ]
  private static let inXMP = ["CREATOR", "DOCUMENT"]

  /// A file, its marked words, and the expected report.
  private struct Planted {
    let format: PhotoFormat
    var bytes: [UInt8]
    var words: [String]
    var stripped: Set<String>
  }

  private func word(_ word: String) -> [UInt8] { Array("PLANTED\(word)".utf8) }

  private func plant() throws -> [Planted] {
    let camera = try Camera()
    let scene = Scene.landscape(width: 400, height: 300)
    let png = try camera.png(scene)
    let icc = MatrixProfile.standard.icc + word("PROFILE")
    let second = try camera.tag(camera.photograph(.plain(0, 200, 0)), ["Comment=PLANTEDSECOND"])
    let video = PNGFile.number(28) + Array("ftypmp42PLANTEDVIDEO".utf8)
    // Tools add the profile first; exiftool then writes into all files at once; the rest is added by hand.
    let profile = try camera.store(icc, as: "planted.icc")
    let plainWebP = try camera.store(camera.webp(png), as: "plain.webp")
    try camera.tool(["webpmux", "-set", "icc", profile, plainWebP, "-o", camera.directory.path("planted.webp")])
    try camera.store(camera.photograph(scene, profile: icc), as: "planted.jpg")
    let named = word("PROFILENAME") + [0, 0]
    try camera.store(PNGFile(png).inserting("iCCP", named + Deflate.stored(icc)).bytes, as: "planted.png")
    try camera.store(camera.gif([scene, .plain(0, 200, 0)]), as: "planted.gif")
    let other = try camera.store(camera.png(.landscape(width: 200, height: 150)), as: "other.png")
    try camera.store(camera.heic(png, ["-q", "90", "-t", "80"], others: [other]), as: "planted.heic")
    let small = try camera.tag(camera.photograph(.plain(200, 0, 0)), ["Comment=PLANTEDTHUMBNAIL"])
    try camera.store(camera.avif(png, ["--icc", profile]), as: "planted.avif")
    let files = ["jpg", "png", "webp", "gif", "heic", "avif"].map { camera.directory.path("planted." + $0) }
    let thumbnail = "-ThumbnailImage<=\(try camera.store(small, as: "thumbnail.jpg"))"
    try camera.tool(
      ["exiftool", "-q", "-q", "-n", "-overwrite_original", thumbnail] + Self.tags.map { "-\($0)" } + files)
    return [
      try jpeg(camera.read("planted.jpg"), second: second, video: video), try self.png(camera.read("planted.png")),
      try webp(camera.read("planted.webp")), try gif(camera.read("planted.gif")),
      try heic(camera.read("planted.heic"), video: video), try avif(camera.read("planted.avif"), video: video),
    ]
  }

  private func jpeg(_ tagged: [UInt8], second: [UInt8], video: [UInt8]) throws -> Planted {
    func segment(_ marker: UInt8, _ contents: [UInt8]) -> [UInt8] {
      [0xFF, marker, UInt8((contents.count + 2) >> 8), UInt8((contents.count + 2) & 255)] + contents
    }
    var photo = tagged
    // The first scan is the thumbnail's.
    let first = try #require(photo.offset(of: [0xFF, 0xDA, 0x00, 0x0C]))
    let scan = try #require(photo.offset(of: [0xFF, 0xDA, 0x00, 0x0C], from: first + 1))
    // An unused table.
    let table = segment(0xDB, [3] + word("TABLE") + [UInt8](repeating: 1, count: 64 - 12))
    photo.insert(contentsOf: table, at: scan)
    let thumbnail = segment(0xE0, Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1, 4, 1] + word("JFIF!"))
    let extended = segment(0xE0, Array("JFXX\0".utf8) + [0x13, 4, 1] + word("JFXX!"))
    let parts = segment(0xE2, Array("MPF\0".utf8) + word("MPF")) + segment(0xE9, word("APPLICATION"))
    let credentials = segment(0xEB, Array("JP".utf8) + word("CREDENTIALS")) + segment(0xFE, word("SECONDCOMMENT"))
    photo.replaceSubrange(2..<20, with: thumbnail + extended + parts + credentials)
    return Planted(
      format: .jpeg, bytes: photo + second + video + word("BEHIND"),
      words: Self.inEXIF + Self.inXMP + [
        "CITY", "BYLINE", "COMMENT", "PROFILE", "TABLE", "JFIF", "JFXX", "MPF", "APPLICATION", "CREDENTIALS",
        "SECOND", "VIDEO", "BEHIND",
      ],
      stripped: [
        "EXIF", "GPS position", "maker notes", "embedded thumbnail", "XMP", "IPTC", "comment", "application data",
        "content credentials", "second picture", "video", "colour profile",
      ])
  }

  private func png(_ tagged: [UInt8]) throws -> Planted {
    var file = PNGFile(tagged)
    file.insert("tEXt", Array("Title\0".utf8) + word("TEXT"))
    file.insert("zTXt", Array("Author\0\0".utf8) + Deflate.stored(word("PACKEDTEXT")), before: "IEND")
    file.insert("iTXt", Array("Place\0\0\0de\0Ort\0".utf8) + word("WORLDTEXT"))
    file.insert("tIME", [0x07, 0xEF, 7, 8, 9, 10, 11])
    file.insert("sPLT", word("PALETTE") + [0, 8])
    file.insert("plNt", word("PRIVATE"))
    return Planted(
      format: .png, bytes: file.bytes + word("BEHIND"),
      words: Self.inEXIF + Self.inXMP + [
        "COMMENT", "PROFILE", "PROFILENAME", "TEXT", "PACKEDTEXT", "WORLDTEXT", "PALETTE", "PRIVATE", "BEHIND",
      ],
      stripped: [
        "EXIF", "GPS position", "maker notes", "embedded thumbnail", "XMP", "IPTC", "comment", "application data",
        "colour profile", "trailing bytes",
      ])
  }

  private func webp(_ tagged: [UInt8]) throws -> Planted {
    Planted(
      format: .webp, bytes: tagged.addingWebPChunk("PLNT", word("CHUNK")) + word("BEHIND"),
      words: Self.inEXIF + Self.inXMP + ["PROFILE", "CHUNK", "BEHIND"],
      stripped: [
        "EXIF", "GPS position", "maker notes", "embedded thumbnail", "XMP", "application data", "colour profile",
        "trailing bytes",
      ])
  }

  private func gif(_ tagged: [UInt8]) throws -> Planted {
    let text: [UInt8] = [0, 0, 0, 0, 8, 0, 8, 0, 8, 8, 1, 0]
    return Planted(
      format: .gif,
      bytes: tagged.addingGIFExtension(0xFF, [Array("PLANTEDAPP!".utf8), word("APPDATA")])
        .addingGIFExtension(0x01, [text, word("PLAINTEXT")]) + word("BEHIND"),
      words: Self.inXMP + ["COMMENT", "APP!", "APPDATA", "PLAINTEXT", "BEHIND"],
      stripped: ["XMP", "GPS position", "comment", "application data", "further frames", "trailing bytes"])
  }

  private func heic(_ tagged: [UInt8], video: [UInt8]) throws -> Planted {
    Planted(
      format: .heic,
      bytes: tagged.addingBox("uuid", [UInt8](repeating: 7, count: 16) + word("UUID")).addingBox("mpvd", video)
        + word("BEHIND"),
      words: Self.inEXIF + Self.inXMP + ["UUID", "VIDEO", "BEHIND"],
      stripped: [
        "EXIF", "GPS position", "maker notes", "embedded thumbnail", "XMP", "application data", "video",
        "second picture", "trailing bytes",
      ])
  }

  private func avif(_ tagged: [UInt8], video: [UInt8]) throws -> Planted {
    Planted(
      format: .avif,
      bytes: HEIFFile(tagged).naming("PLANTEDNAME").bytes
        .addingBox("uuid", [UInt8](repeating: 7, count: 16) + word("UUID")).addingBox("mpvd", video)
        .addingBox("free", word("FREE")).addingBox("udta", word("USERDATA")) + word("BEHIND"),
      words: Self.inEXIF + Self.inXMP + ["PROFILE", "NAME", "UUID", "VIDEO", "FREE", "USERDATA", "BEHIND"],
      stripped: [
        "EXIF", "GPS position", "maker notes", "embedded thumbnail", "XMP", "application data", "video",
        "colour profile", "trailing bytes",
      ])
  }

  /// Whether a marked word is anywhere, as plain text in any case or as UTF-16.
  private func findsWord(in bytes: [UInt8]) -> Bool {
    let lower = bytes.map { (65...90).contains($0) ? $0 + 32 : $0 }
    let plain = Array("planted".utf8)
    return [plain, plain.flatMap { [$0, 0] }, plain.flatMap { [0, $0] }].contains { lower.offset(of: $0) != nil }
  }

  @Test("Everything in a file beside its picture is left out and reported, whatever the format")
  func nothingComesOut() throws {
    let camera = try Camera()
    var sent: [[UInt8]] = []
    for file in try plant() {
      for planted in file.words { #expect(file.bytes.contains("PLANTED" + planted), "\(file.format) lacks \(planted)") }
      if file.format != .gif { #expect(file.bytes.offset(of: Array("P\0L\0A\0N\0T\0E\0D\0".utf8)) != nil) }
      for longestSide in [2048, 200] {
        let prepared = try prepare(file.bytes) { $0.longestSide = longestSide }
        #expect(prepared.original.format == file.format)
        #expect(Set(prepared.stripped) == file.stripped, "\(file.format)")
        #expect(prepared.stripped.count == file.stripped.count)
        #expect(prepared.isLossless == (file.format == .jpeg && longestSide == 2048))
        for (name, jpeg) in [
          ("photo", prepared.jpeg), ("thumbnail", prepared.thumbnail), ("blurred preview", prepared.blurred),
        ] {
          #expect(!findsWord(in: jpeg), "a word is in the \(name) of the \(file.format.name)")
          JPEGMarkers.expectBare(jpeg, "the \(name) of the \(file.format.name)")
          sent.append(jpeg)
        }
      }
    }
    #expect(sent.count == 36)
    #expect(try camera.metadata(of: sent) == [])
  }

  @Test("The prepared photo shows the first picture of the file")
  func firstPicture() throws {
    let scene = Scene.landscape(width: 400, height: 300)
    for file in try plant() {
      let difference = try Camera().look(at: prepare(file.bytes).jpeg).difference(from: scene)
      #expect(difference < 6, "\(file.format) differs by \(difference)")
    }
  }

  @Test("Stray bytes between the markers of a JPEG are left out and do no harm")
  func strayBytes() throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 320, height: 240)
    var photo = try camera.photograph(scene)
    for marker in [[0xFF, 0xC4], [0xFF, 0xDA]] as [[UInt8]] {
      photo.insert(contentsOf: word("STRAY"), at: try #require(photo.offset(of: marker)))
    }
    let prepared = try prepare(photo)
    #expect(try camera.look(at: prepared.jpeg).difference(from: scene) < 3)
    for jpeg in [prepared.jpeg, prepared.thumbnail, prepared.blurred] {
      #expect(!findsWord(in: jpeg))
      JPEGMarkers.expectBare(jpeg, "what was made of it")
    }
  }

  @Test("A motion photo's video is named in every format that can carry one, also when it has no hint of it")
  func motionPhoto() throws {
    let camera = try Camera()
    let video = PNGFile.number(28) + Array("ftypisomPLANTEDVIDEO".utf8)
    let png = try camera.png(.plain(200, 60, 50))
    let heic = try camera.heic(png)
    for photo in [
      try camera.photograph(.plain(200, 60, 50)) + video, heic.addingBox("mpvd", video),
      heic.addingBox("moov", video), png + video,
    ] {
      let prepared = try prepare(photo)
      #expect(prepared.stripped == ["video"])
      #expect(!findsWord(in: prepared.jpeg))
    }
  }

  @Test("Metadata that holds the orientation is left out with the rest", arguments: [PhotoFormat.png, .webp])
  func orientation(format: PhotoFormat) throws {
    let camera = try Camera()
    let png = try camera.png(.landscape(width: 64, height: 48))
    let path = try camera.store(format == .png ? png : camera.webp(png), as: "turned." + format.rawValue)
    try camera.tool(
      [
        "exiftool", "-q", "-n", "-overwrite_original", "-Orientation=6", "-EXIF:Make=PLANTEDMAKE", "-GPSLatitude=47.5",
        path,
      ])
    let prepared = try prepare(camera.read("turned." + format.rawValue))
    #expect((prepared.width, prepared.height) == (48, 64))
    #expect(Set(prepared.stripped) == ["EXIF", "GPS position"])
    JPEGMarkers.expectBare(prepared.jpeg, "the photo")
  }

  @Test("A file without metadata has nothing to leave out, in every format")
  func nothing() throws {
    let camera = try Camera()
    let png = try camera.png(.landscape(width: 64, height: 48))
    let jpeg = try camera.photograph(.landscape(width: 64, height: 48))
    let gif = try camera.gif([.landscape(width: 64, height: 48)])
    for photo in [jpeg, png, try camera.webp(png), gif, try camera.heic(png)] {
      #expect(try prepare(photo).stripped == [])
    }
  }

  @Test("Photos of the corpus come out bare, whatever their format", .enabled(if: Corpus.path != nil, Corpus.isAbsent))
  func corpus() throws {
    let camera = try Camera()
    var sent: [[UInt8]] = []
    for folder in ["camera", "formats", "gps", "heic", "orientation", "xmp"] {
      for photo in try Corpus.files(in: folder) {
        guard let prepared = try? prepare(photo.bytes, { $0.longestSide = 1000 }) else { continue }
        if folder == "gps" { #expect(prepared.stripped.contains("GPS position"), "\(photo.name)") }
        for jpeg in [prepared.jpeg, prepared.thumbnail, prepared.blurred] {
          JPEGMarkers.expectBare(jpeg, photo.name)
          sent.append(jpeg)
        }
      }
    }
    #expect(sent.count > 60)
    #expect(try camera.metadata(of: sent) == [])
  }
}
