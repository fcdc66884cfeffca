/// How a stored picture is turned to stand upright: mirrored, then transposed. The raw value is EXIF's number.
enum Orientation: Int {
  case upright = 1
  case mirrored, upsideDown, flipped, transposed, turnedRight, transversed, turnedLeft

  /// Left and right change places.
  var mirrorsAcross: Bool { [.mirrored, .upsideDown, .transversed, .turnedLeft].contains(self) }
  /// Top and bottom change places.
  var mirrorsDown: Bool { [.upsideDown, .flipped, .turnedRight, .transversed].contains(self) }
  /// Thereafter, rows become columns.
  var transposes: Bool { rawValue >= Orientation.transposed.rawValue }

  /// The size of a picture after the turn, or before it: they are each other's inverse.
  func turned(_ size: PixelSize) -> PixelSize { transposes ? size.swapped : size }
}
