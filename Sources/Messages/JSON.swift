import FoundationEssentials

/// The JSON (RFC 8259) of a value, with sorted keys and plain slashes: equal values give equal bytes.
package func json(_ value: some Encodable) throws -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return Array(try encoder.encode(value))
}
