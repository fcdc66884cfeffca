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

  /// A square of it, which has to lie within.
  func cut(x: Int, y: Int, side: Int) -> Plane {
    let result = Plane(width: side, height: side)
    for line in 0..<side { result.row(line).update(from: row(y + line) + x, count: side) }
    return result
  }

  /// Repeats the last sample of each row up to the stride, as the encoder looks at whole blocks.
  func extendRows() {
    guard width < stride else { return }
    for y in 0..<height {
      let row = row(y)
      (row + width).update(repeating: row[width - 1], count: stride - width)
    }
  }
}
