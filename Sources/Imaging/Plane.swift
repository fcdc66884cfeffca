/// One component of a picture: rows of 8-bit samples, with room behind each row.
///
/// A reference with memory of its own, used by one thread at a time; it never leaves the preparation of one photo.
final class Plane {
  let width: Int
  let height: Int
  /// Bytes from one row to the next: a multiple of 16 with at least the width.
  let stride: Int
  let samples: UnsafeMutablePointer<UInt8>

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    stride = (width + 15) / 16 * 16
    samples = .allocate(capacity: stride * height)
    samples.initialize(repeating: 0, count: stride * height)
  }

  deinit { samples.deallocate() }

  func row(_ y: Int) -> UnsafeMutablePointer<UInt8> { samples + y * stride }

  /// Repeats the last sample of each row up to the stride, as the encoder looks at whole blocks.
  func extendRows() {
    guard width < stride else { return }
    for y in 0..<height {
      let row = row(y)
      (row + width).update(repeating: row[width - 1], count: stride - width)
    }
  }
}
