import CZlib

/// Decompresses data of other programs with zlib: deflate with zlib's frame (RFC 1950), without one (RFC 1951), or gzip
/// (RFC 1952). The envelope calls both of the former deflate.
enum Inflation {
  /// The size limit of decompressed content.
  static let limit = 16 << 20

  /// - Throws: `.compressed` for another or a truncated format, `.tooLarge` beyond `limit`, which is never exceeded.
  static func inflated(_ packed: [UInt8], limit: Int = limit) throws(SealError) -> [UInt8] {
    // 15 bits of window; plus 32 detects zlib or gzip, a minus means no frame.
    do { return try inflated(packed, windowBits: 15 + 32, limit: limit) } catch {
      if error != .compressed { throw error }
      return try inflated(packed, windowBits: -15, limit: limit)
    }
  }

  private static func inflated(_ packed: [UInt8], windowBits: Int32, limit: Int) throws(SealError) -> [UInt8] {
    var stream = z_stream()
    guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw .unavailable("zlib does not start; check its installation")
    }
    defer { inflateEnd(&stream) }
    var packed = packed
    var plain = [UInt8]()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    var status = Z_OK
    packed.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(clamping: input.count)
      while status == Z_OK, plain.count <= limit {
        piece.withUnsafeMutableBufferPointer { output in
          stream.next_out = output.baseAddress
          stream.avail_out = UInt32(output.count)
          status = inflate(&stream, Z_NO_FLUSH)
          plain += output.prefix(output.count - Int(stream.avail_out))
        }
      }
    }
    if plain.count > limit { throw .tooLarge }
    guard status == Z_STREAM_END else { throw .compressed }
    return plain
  }
}
