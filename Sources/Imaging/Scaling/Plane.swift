/// A component of a picture: rows of 8-bit samples with padding. A reference type that one thread uses at a time,
/// within the preparation of one photo.
final class Plane {
  let width: Int
  let height: Int
  /// Bytes from one row to the next: a multiple of 16, at least the width.
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

  /// A square within the plane.
  func cut(x: Int, y: Int, side: Int) -> Plane {
    let result = Plane(width: side, height: side)
    for line in 0..<side { result.row(line).update(from: row(y + line) + x, count: side) }
    return result
  }

  /// Repeats the last sample of each row up to the stride, because the encoder reads whole blocks.
  func extendRows() {
    guard width < stride else { return }
    for y in 0..<height {
      let row = row(y)
      (row + width).update(repeating: row[width - 1], count: stride - width)
    }
  }
}
