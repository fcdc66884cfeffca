/// The addresses in a field such as `To`.
package enum MailAddresses {
  /// The addresses without names and comments, in their order. Those in angle brackets count, others only without them.
  package static func all(in field: [UInt8]) -> [String] {
    var (addresses, outside) = ([String](), [UInt8]())
    var angle: [UInt8]?
    var (isQuoted, isEscaped, depth) = (false, false, 0)
    func end() {
      let address = trimmed((angle ?? outside)[...])
      (angle, outside) = (nil, [])
      // A source route precedes its address.
      let plain =
        address.first == UInt8(ascii: "@") ? address.drop { $0 != UInt8(ascii: ":") }.dropFirst() : address[...]
      if !plain.isEmpty { addresses.append(oneLine(String(decoding: plain, as: UTF8.self)).prefix(bytes: 320)) }
    }
    var isInside = false
    for byte in field {
      if isEscaped {
        isEscaped = false
        if depth > 0 { continue }
      } else if byte == UInt8(ascii: "\\"), isQuoted || depth > 0 {
        isEscaped = true
        continue
      } else if byte == UInt8(ascii: "\""), depth == 0 {
        isQuoted.toggle()
        continue
      } else if !isQuoted {
        switch byte {
        case UInt8(ascii: "("):
          depth += 1
          continue
        case UInt8(ascii: ")") where depth > 0:
          depth -= 1
          continue
        case UInt8(ascii: "<") where depth == 0:
          (isInside, angle) = (true, [])
          continue
        case UInt8(ascii: ">") where depth == 0:
          isInside = false
          continue
        case UInt8(ascii: ",") where depth == 0, UInt8(ascii: ";") where depth == 0:
          isInside = false
          end()
          continue
        case UInt8(ascii: ":") where depth == 0 && !isInside:
          // The name of a group.
          outside = []
          continue
        default: break
        }
      }
      if depth > 0 { continue }
      if isInside { angle?.append(byte) } else if angle == nil { outside.append(byte) }
    }
    end()
    return addresses
  }
}
