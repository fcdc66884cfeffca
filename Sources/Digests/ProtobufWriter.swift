/// Writes two of protobuf's wire types, varint and length-delimited. Source: protobuf.dev, "Encoding".
package struct ProtobufWriter {
  package private(set) var bytes: [UInt8]

  /// - Parameter bytes: what stands in front of the fields.
  package init(after bytes: [UInt8] = []) { self.bytes = bytes }

  package mutating func write(_ field: UInt64, _ value: UInt64) {
    writeVarint(field << 3)
    writeVarint(value)
  }

  package mutating func write(_ field: UInt64, _ value: [UInt8]) {
    writeVarint(field << 3 | 2)
    writeVarint(UInt64(value.count))
    bytes += value
  }

  package mutating func write(_ field: UInt64, _ value: String) { write(field, Array(value.utf8)) }

  private mutating func writeVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}
