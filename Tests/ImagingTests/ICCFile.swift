import Foundation

/// A handwritten version 2 colour profile.
struct ICCFile {
  /// Its class: `mntr` for a screen, `prtr` for a printer.
  let kind: String
  let space: String
  /// The connection space.
  let connection: String
  let elements: [(String, [UInt8])]

  var bytes: [UInt8] {
    let elements = elements + [("wtpt", Self.xyz([0.9642, 1, 0.8249]))]
    let offsets = elements.indices.map { index in
      132 + 12 * elements.count + elements[..<index].reduce(0) { $0 + $1.1.count }
    }
    var body = Self.number(UInt32(elements.count))
    for (index, element) in elements.enumerated() {
      body += Self.text(element.0) + Self.number(UInt32(offsets[index])) + Self.number(UInt32(element.1.count))
    }
    body += elements.flatMap(\.1)
    var header = Self.number(UInt32(128 + body.count)) + Self.text("none") + Self.number(0x0210_0000)
    header += Self.text(kind + space + connection) + [UInt8](repeating: 0, count: 12) + Self.text("acsp")
    header += [UInt8](repeating: 0, count: 128 - header.count)
    header.replaceSubrange(68..<80, with: Self.number(63190) + Self.number(65536) + Self.number(54061))
    return header + body
  }

  static func grey(gamma: Double) -> [UInt8] {
    ICCFile(kind: "mntr", space: "GRAY", connection: "XYZ ", elements: [("kTRC", curve(gamma: gamma))]).bytes
  }

  /// A profile of inks, with a table of full and missing inks and interpolation.
  ///
  /// - Parameter lab: from cyan, magenta, yellow and black, each there or not, to lightness and two axes of colour.
  static func inks(_ lab: ([Bool]) -> [Double]) -> [UInt8] {
    let ramp = (0...255).map { UInt8($0) }
    var table = text("mft1") + number(0) + [4, 3, 2, 0]
    table += [1, 0, 0, 0, 1, 0, 0, 0, 1].flatMap { number(UInt32($0 * 65536)) }
    for _ in 0..<4 { table += ramp }
    for corner in 0..<16 {
      let color = lab((0..<4).map { corner >> (3 - $0) & 1 == 1 })
      table += [UInt8((color[0] * 2.55).rounded()), UInt8(color[1] + 128), UInt8(color[2] + 128)]
    }
    for _ in 0..<3 { table += ramp }
    return ICCFile(kind: "prtr", space: "CMYK", connection: "Lab ", elements: [("A2B0", table)]).bytes
  }

  static func curve(gamma: Double) -> [UInt8] {
    text("curv") + number(0) + number(1) + short(UInt16((gamma * 256).rounded())) + [0, 0]
  }

  static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
  static func short(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
  static func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
  static func xyz(_ values: [Double]) -> [UInt8] {
    text("XYZ ") + number(0) + values.flatMap { number(UInt32(bitPattern: Int32(($0 * 65536).rounded()))) }
  }
}
