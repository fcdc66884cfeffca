import Testing

/// An independent parser of JPEG markers and their lengths.
struct JPEGMarkers {
  struct Segment: Equatable {
    let marker: UInt8
    let contents: [UInt8]
  }

  private(set) var segments: [Segment] = []
  /// Bytes after the end marker, if there is one.
  private(set) var behind: Int?
  /// Bytes between markers that belong to neither.
  private(set) var stray = 0

  init(_ jpeg: [UInt8]) {
    var offset = 2
    while offset + 1 < jpeg.count {
      guard jpeg[offset] == 0xFF, jpeg[offset + 1] != 0xFF else {
        stray += 1
        offset += 1
        continue
      }
      let marker = jpeg[offset + 1]
      if marker == 0xD9 {
        behind = jpeg.count - offset - 2
        return
      }
      guard offset + 3 < jpeg.count else { return }
      let end = offset + 2 + Int(jpeg[offset + 2]) << 8 + Int(jpeg[offset + 3])
      guard end <= jpeg.count else { return }
      segments.append(Segment(marker: marker, contents: Array(jpeg[offset + 4..<end])))
      offset = end
      guard marker == 0xDA else { continue }
      while offset + 1 < jpeg.count,
        jpeg[offset] != 0xFF
          || [0, 0xD0, 0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7]
            .contains(jpeg[offset + 1])
      {
        offset += 1
      }
    }
  }

  /// Expects only a picture: JFIF's header without a thumbnail, one frame, its tables and scans.
  static func expectBare(_ jpeg: [UInt8], _ what: String, at location: SourceLocation = #_sourceLocation) {
    let found = JPEGMarkers(jpeg)
    let allowed: Set<UInt8> = [0xE0, 0xDB, 0xC0, 0xC2, 0xC4, 0xDD, 0xDA]
    let others = found.segments.map(\.marker).filter { !allowed.contains($0) }
    #expect(others == [], "\(what) has other segments", sourceLocation: location)
    #expect(found.behind == 0 && found.stray == 0, "\(what) has bytes of nobody", sourceLocation: location)
    let headers = found.segments.filter { $0.marker == 0xE0 }.map(\.contents)
    #expect(headers.count == 1, "\(what) has not one header", sourceLocation: location)
    for header in headers {
      let isBare = header.count == 14 && header.starts(with: Array("JFIF\0".utf8)) && header.suffix(2) == [0, 0]
      #expect(isBare, "\(what) has a header with something in it", sourceLocation: location)
    }
    #expect(found.segments.filter { [0xC0, 0xC2].contains($0.marker) }.count == 1, sourceLocation: location)
  }
}
