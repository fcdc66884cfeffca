/// The limits for the photo that follows, and nothing about its owner.
package struct DarkroomOrder: Sendable, Equatable {
  package let limits: PhotoLimits

  package init(limits: PhotoLimits) { self.limits = limits }

  package static let size = 8 * fields.count

  private static let fields: [WritableKeyPath<PhotoLimits, Int> & Sendable] = [
    \.inputBytes, \.pixels, \.scans, \.pixelScans, \.items, \.decoderBytes, \.longestSide, \.outputBytes,
    \.bestQuality, \.worstQuality, \.thumbnailSide, \.thumbnailQuality, \.squareSide,
  ]

  package var encoded: [UInt8] {
    var writer = WireWriter()
    for field in Self.fields { writer.put(limits[keyPath: field]) }
    return writer.bytes
  }

  /// - Returns: nil for invalid bytes.
  package init?(encoded bytes: [UInt8]) {
    var reader = WireReader(bytes)
    var limits = PhotoLimits()
    do {
      for field in Self.fields { limits[keyPath: field] = try reader.number() }
      try reader.end()
    } catch {
      return nil
    }
    self.limits = limits
  }
}
