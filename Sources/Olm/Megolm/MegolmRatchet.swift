import Digests

/// Megolm's ratchet: four parts of 32 bytes. The last part changes with each message, the others every 2^8, 2^16 and 2^24
/// messages, so that any later message is reached in at most 1,020 steps and no earlier one at all.
///
/// Source: the specification of Megolm, "Ratchet" and "Advancing the ratchet".
struct MegolmRatchet: Sendable {
  static let length = 128

  private(set) var index: UInt32
  private var parts: [[UInt8]]

  /// At message 0.
  init() throws(OlmError) { self.init(try SecretBytes.random(Self.length).bytes[...], at: 0) }

  /// - Parameter bytes: 128 bytes.
  init(_ bytes: ArraySlice<UInt8>, at index: UInt32) {
    self.index = index
    parts = (0..<4).map { Array(bytes.dropFirst($0 * 32).prefix(32)) }
  }

  /// 128 bytes.
  var bytes: [UInt8] { Array(parts.joined()) }

  /// The cipher for the message at `index`.
  var cipher: MessageCipher {
    var bytes = bytes
    defer { bytes.wipe() }
    return MessageCipher(bytes, info: "MEGOLM_KEYS")
  }

  /// - Throws: `OlmError.exhausted` after message 2^32 - 1.
  mutating func advance() throws(OlmError) {
    guard index < .max else { throw .exhausted }
    index += 1
    // The first part whose turn it is; message numbers are counted in base 256.
    let part = 3 - min(3, index.trailingZeroBitCount / 8)
    replace(from: part)
  }

  /// - Throws: `OlmError.unknownIndex` for a message before `index`.
  mutating func advance(to target: UInt32) throws(OlmError) {
    guard target >= index else { throw .unknownIndex(first: index) }
    for part in 0..<4 {
      let shift = UInt32(24 - 8 * part)
      let steps = (target >> shift) - (index >> shift)
      if steps == 0 { continue }
      for _ in 1..<steps { parts[part] = Self.hash(parts[part], into: part) }
      replace(from: part)
      index = (target >> shift) << shift
    }
  }

  /// Derives this part and those after it from this part.
  private mutating func replace(from part: Int) {
    for later in (part...3).reversed() { parts[later] = Self.hash(parts[part], into: later) }
  }

  private static func hash(_ part: [UInt8], into number: Int) -> [UInt8] {
    HMACSHA256(key: part).code(of: [UInt8(number)])
  }
}
