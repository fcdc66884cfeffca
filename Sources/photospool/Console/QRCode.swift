import CQRCode
import Composition

/// A QR code (ISO/IEC 18004) of a text, made by libqrencode.
struct QRCode {
  /// Rows from above, `true` is dark.
  let modules: [[Bool]]

  /// Light modules on each side.
  private static let margin = 4

  /// - Throws: `Failure` if the text is too long, beyond 2,331 bytes.
  init(_ text: String) throws {
    guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else {
      throw Failure(.badData, "the link is too long for a QR code; leave out --qr")
    }
    defer { QRcode_free(code) }
    let width = Int(code.pointee.width)
    let data = UnsafeBufferPointer(start: code.pointee.data, count: width * width)
    // The lowest bit is the colour.
    modules = (0..<width).map { row in data[row * width..<(row + 1) * width].map { $0 & 1 == 1 } }
  }

  /// Lines of two rows each, dark on light.
  ///
  /// - Parameter hasColour: sets both colours. Without colours, the text is right on a terminal with light letters.
  func text(hasColour: Bool) -> String {
    let width = modules.count + 2 * Self.margin
    func isDark(_ row: Int, _ column: Int) -> Bool {
      let (row, column) = (row - Self.margin, column - Self.margin)
      return modules.indices.contains(row) && modules.indices.contains(column) && modules[row][column]
    }
    return stride(from: 0, to: width, by: 2).map { row in
      let line = (0..<width).map { column in
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (false, false): "█"
        case (false, true): "▀"
        case (true, false): "▄"
        case (true, true): " "
        }
      }.joined()
      // White letters on black.
      return hasColour ? "\u{1b}[97;40m\(line)\u{1b}[0m" : line
    }.joined(separator: "\n")
  }
}
