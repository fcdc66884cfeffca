/// The addresses in a field such as `To`.
package enum MailAddresses {
  /// The addresses without names and comments, in their order. Those in angle brackets count, others only without them.
  package static func all(in field: [UInt8]) -> [String] {
    var (addresses, outside) = ([String](), [UInt8]())
    var angle: [UInt8]?
    var isInside = false
    func end() {
      let address = trimmed((angle ?? outside)[...])
      (angle, outside) = (nil, [])
      // A source route precedes its address.
      let plain =
        address.first == UInt8(ascii: "@") ? address.drop { $0 != UInt8(ascii: ":") }.dropFirst() : address[...]
      if !plain.isEmpty { addresses.append(oneLine(String(decoding: plain, as: UTF8.self)).prefix(bytes: 320)) }
    }
    forEachByte(of: field) { byte, isLiteral in
      switch byte {
      case UInt8(ascii: "<") where !isLiteral: (isInside, angle) = (true, [])
      case UInt8(ascii: ">") where !isLiteral: isInside = false
      case UInt8(ascii: ",") where !isLiteral, UInt8(ascii: ";") where !isLiteral:
        isInside = false
        end()
      // The name of a group.
      case UInt8(ascii: ":") where !isLiteral && !isInside: outside = []
      default: if isInside { angle?.append(byte) } else if angle == nil { outside.append(byte) }
      }
    }
    end()
    return addresses
  }
}
