import Foundation
import Spooling

/// JSON on one line, for programs, that may be looked at on a terminal all the same.
enum JSONLine {
  /// The object on one line: absent values as null where the type writes them, keys in alphabetical order, and what a
  /// terminal could obey or hide as `\uXXXX`, which means the same to a reader of JSON.
  static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line = String(decoding: try encoder.encode(value), as: UTF8.self)
    // Outside of texts, which are quoted, there is nothing of the kind.
    guard line.unicodeScalars.contains(where: \.isUnseen) else { return line }
    var result = ""
    for scalar in line.unicodeScalars {
      if scalar.isUnseen {
        for unit in String(scalar).utf16 { result += String(format: "\\u%04x", unit) }
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// Writes one JSON object a line to standard output. Absent values are written as null, and keys in alphabetical order.
func printJSON(_ value: some Encodable) throws { print(try JSONLine.text(value)) }
