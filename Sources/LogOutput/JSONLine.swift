import Foundation
import Messages

/// JSON on one line, safe on terminals.
package enum JSONLine {
  /// The object on one line: nil as null if the type says so, sorted keys, and terminal controls as `\uXXXX`.
  package static func text(_ value: some Encodable) throws -> String {
    let line = String(decoding: try json(value), as: UTF8.self)
    // Only quoted texts can contain such characters.
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
