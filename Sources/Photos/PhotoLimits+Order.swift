/// An order to the darkroom: the limits for the photo that follows, and nothing about its owner.
extension PhotoLimits {
  package static let encodedSize = 8 * fields.count

  private static let fields: [WritableKeyPath<PhotoLimits, Int> & Sendable] = [
    \.inputBytes, \.pixels, \.scans, \.pixelScans, \.items, \.decoderBytes, \.longestSide, \.outputBytes,
    \.bestQuality, \.worstQuality, \.thumbnailSide, \.thumbnailQuality, \.squareSide,
  ]

  package var encoded: [UInt8] {
    var writer = WireWriter()
    for field in Self.fields { writer.put(self[keyPath: field]) }
    return writer.bytes
  }

  /// - Returns: nil for invalid bytes.
  package init?(encoded bytes: [UInt8]) {
    self.init()
    var reader = WireReader(bytes)
    do {
      for field in Self.fields { self[keyPath: field] = try reader.number() }
      try reader.end()
    } catch {
      return nil
    }
  }
}
