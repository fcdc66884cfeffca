/// How a stored picture is turned upright: mirrored, then transposed. The raw value is EXIF's number.
enum Orientation: Int {
  case upright = 1
  case mirrored, upsideDown, flipped, transposed, turnedRight, transversed, turnedLeft

  /// Swaps left and right.
  var mirrorsAcross: Bool { [.mirrored, .upsideDown, .transversed, .turnedLeft].contains(self) }
  /// Swaps top and bottom.
  var mirrorsDown: Bool { [.upsideDown, .flipped, .turnedRight, .transversed].contains(self) }
  /// Then swaps rows and columns.
  var transposes: Bool { rawValue >= Orientation.transposed.rawValue }

  /// The size of a picture after the turn, or before it; both are the same operation.
  func turned(_ size: PixelSize) -> PixelSize { transposes ? size.swapped : size }
}

extension Orientation {
  init(mirrorsAcross: Bool, mirrorsDown: Bool, transposes: Bool) {
    self =
      switch (mirrorsAcross, mirrorsDown) {
      case (false, false): transposes ? .transposed : .upright
      case (true, false): transposes ? .turnedLeft : .mirrored
      case (true, true): transposes ? .transversed : .upsideDown
      case (false, true): transposes ? .turnedRight : .flipped
      }
  }
}
