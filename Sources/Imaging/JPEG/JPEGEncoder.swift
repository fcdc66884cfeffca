import CJPEG
import Photos

/// Encodes pictures as JPEG without metadata.
struct JPEGEncoder {
  /// A complete JPEG, or its size.
  enum Encoding {
    case fits([UInt8])
    case exceeds(bytes: Int)
  }

  /// Encodes a picture; nil if libjpeg has no memory.
  ///
  /// - Parameter limit: the size limit in bytes.
  static func encode(_ picture: Picture, quality: Int, limit: Int) -> Encoding? {
    let planes = picture.planes.map {
      cjpeg_plane(samples: UnsafePointer($0.samples), stride: Int32($0.stride), height: Int32($0.height))
    }
    return collect(limit: limit) { buffer, count in
      cjpeg_encode(
        planes, Int32(planes.count), Int32(picture.size.width), Int32(picture.size.height), Int32(quality),
        buffer.baseAddress, buffer.count, &count)
    }
  }

  /// Copies a JPEG with the same coefficients; nil if it is not flawless or cannot be copied.
  static func copy(_ photo: UnsafeBufferPointer<UInt8>, limits: PhotoLimits) -> Encoding? {
    collect(limit: limits.outputBytes) { buffer, count in
      cjpeg_copy(
        photo.baseAddress, photo.count, max(0, limits.decoderBytes), Int32(clamping: limits.scans),
        buffer.baseAddress, buffer.count, &count)
    }
  }

  private static func collect(
    limit: Int, _ work: (UnsafeMutableBufferPointer<UInt8>, inout Int) -> cjpeg_status
  ) -> Encoding? {
    var size = 0
    var status = CJPEG_OK
    let bytes = [UInt8](unsafeUninitializedCapacity: max(0, limit)) { buffer, count in
      let room = UnsafeMutableBufferPointer(rebasing: buffer[..<min(buffer.count, max(0, limit))])
      status = work(room, &size)
      count = status == CJPEG_OK && size <= room.count ? size : 0
    }
    guard status == CJPEG_OK else { return nil }
    // A copy of the exact size, because the photo may wait for long.
    return size <= max(0, limit) ? .fits(bytes.withUnsafeBufferPointer(Array.init)) : .exceeds(bytes: size)
  }
}
