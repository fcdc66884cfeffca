extension [UInt8] {
  /// The beginning of a sentence about a file that is often mistaken for a picture; nil for all others.
  var kindOfStranger: String? {
    let beginning = String(decoding: prefix(32), as: UTF8.self)
    func has(_ words: [String], at offset: Int) -> Bool {
      words.contains { dropFirst(offset).starts(with: $0.utf8) }
    }
    let isMovie = has(["ftypqt", "moov", "mdat", "wide"], at: 4)
    let isMP4 = has(["iso", "mp4", "avc1", "M4V", "3g", "dash", "MSNV"].map { "ftyp" + $0 }, at: 4)
    if isMovie { return "this is a video (MOV), and a photo is wanted" }
    if isMP4 { return "this is a video (MP4), and a photo is wanted" }
    if starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return "this is a video (Matroska), and a photo is wanted" }
    if has(["RIFF"], at: 0) && has(["AVI "], at: 8) { return "this is a video (AVI), and a photo is wanted" }
    if starts(with: [0x50, 0x4B, 3, 4]) { return "this is a ZIP archive; unpack it first" }
    let text = beginning.lowercased().drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") {
      return "this is a web page (HTML) and not the photo itself"
    }
    return nil
  }

  /// The same about a camera's raw file. Many of them are TIFFs.
  var kindOfRaw: String? {
    let beginnings: [(name: String, offset: Int, words: [UInt8])] = [
      ("CR3", 4, Array("ftypcrx ".utf8)), ("CR2", 8, Array("CR\u{2}\0".utf8)), ("CRW", 6, Array("HEAPCCDR".utf8)),
      ("RAF", 0, Array("FUJIFILMCCD-RAW".utf8)), ("ORF", 0, Array("IIRO".utf8)), ("ORF", 0, Array("IIRS".utf8)),
      ("RW2", 0, Array("IIU\0".utf8)), ("X3F", 0, Array("FOVb".utf8)),
    ]
    let name =
      beginnings.first { dropFirst($0.offset).starts(with: $0.words) }?.name
      ?? TIFFDirectory(ByteReader(self, indices))?.kindOfRaw
    return name.map {
      "this is the raw file of a camera (\($0)); send the JPEG that the camera made, or export one from it"
    }
  }
}

extension TIFFDirectory {
  /// "DNG", or "TIFF" for other raw files: a picture within a picture, from a camera.
  fileprivate var kindOfRaw: String? {
    if has(0xC612) { return "DNG" }
    return has(0x010F) && has(0x014A) ? "TIFF" : nil
  }
}
