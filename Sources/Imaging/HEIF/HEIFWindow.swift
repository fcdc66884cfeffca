/// The part of a stored picture that is shown, and how it is turned: crops, turns and mirrors in the order of the file.
struct HEIFWindow {
  private(set) var x = 0
  private(set) var y = 0
  private(set) var size: PixelSize
  private var mirrorsAcross = false
  private var mirrorsDown = false
  private var transposes = false

  init(_ size: PixelSize) { self.size = size }

  var orientation: Orientation {
    Orientation(mirrorsAcross: mirrorsAcross, mirrorsDown: mirrorsDown, transposes: transposes)
  }

  /// Applies a property. Returns false if it makes no sense.
  mutating func apply(_ property: HEIFItems.Property) -> Bool {
    switch property.name {
    case "irot":
      for _ in 0..<Int((property.contents.byte(at: 0) ?? 0) & 3) { turnLeft() }
    case "imir":
      mirror(across: (property.contents.byte(at: 0) ?? 0) & 1 == 1)
    case "clap":
      return crop(property.contents)
    default: break
    }
    return true
  }

  /// By a quarter, against the clock: transposed, then upside down.
  private mutating func turnLeft() {
    transposes.toggle()
    mirror(across: false)
  }

  private mutating func mirror(across: Bool) {
    if across != transposes { mirrorsAcross.toggle() } else { mirrorsDown.toggle() }
  }

  /// Eight numbers: width, height and the distance of the centres across and down, each with its divisor.
  private mutating func crop(_ contents: ByteReader) -> Bool {
    let values = (0..<8).compactMap { contents.uint32(at: 4 * $0) }.map { Double(Int32(truncatingIfNeeded: $0)) }
    guard values.count == 8, stride(from: 1, to: 8, by: 2).allSatisfy({ values[$0] > 0 }) else { return false }
    let shown = transposes ? size.swapped : size
    func span(_ index: Int, of whole: Int) -> (start: Int, count: Int)? {
      let count = Int((values[index] / values[index + 1]).rounded())
      guard count > 0 else { return nil }
      let start = Double(whole - min(count, whole)) / 2 + values[index + 4] / values[index + 5]
      guard start > -1, start < Double(whole) else { return nil }
      let first = max(0, Int(start.rounded(.down)))
      return (first, min(count, whole - first))
    }
    guard let across = span(0, of: shown.width), let down = span(2, of: shown.height) else { return false }
    var (left, top) = transposes ? (down.start, across.start) : (across.start, down.start)
    let (width, height) = transposes ? (down.count, across.count) : (across.count, down.count)
    if mirrorsAcross { left = size.width - left - width }
    if mirrorsDown { top = size.height - top - height }
    (x, y) = (x + left, y + top)
    size = PixelSize(width: width, height: height)
    return true
  }
}
