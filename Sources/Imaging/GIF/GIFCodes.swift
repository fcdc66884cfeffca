import Messages

/// The codes of a GIF's picture (GIF89a specification, appendix F). Some programs begin with codes of up to twelve bits,
/// which the specification does not allow and every viewer shows.
struct GIFCodes {
  private let photo: [UInt8]
  private let start: Int

  private static let widest = 12

  /// - Parameter start: the offset of the width of the first codes, before their parts.
  init(_ photo: [UInt8], at start: Int) { (self.photo, self.start) = (photo, start) }

  /// The first `count` colour indices.
  func indices(count: Int) throws(DeliveryError) -> [UInt8] {
    guard photo.indices.contains(start) else { throw .cutOff("GIF") }
    let bits = Int(photo[start])
    guard (1..<Self.widest).contains(bits) else { throw .damaged("GIF", "its codes are \(bits) bits wide") }
    var end: End?
    let indices = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      var table = Table(bits: bits)
      end = read(bits: bits) { code in table.add(code, to: buffer, &filled) }
    }
    guard indices.count < count else { return indices }
    switch end {
    case .missing: throw .cutOff("GIF")
    case .unknown: throw .damaged("GIF", "one of its codes stands for nothing")
    case .marked, nil: throw .damaged("GIF", "its picture has too few pixels")
    }
  }

  /// The reasons for the end of the codes.
  private enum End {
    /// The end mark, or the end of the parts.
    case marked
    /// The end of the file.
    case missing
    case unknown
  }

  /// Passes codes to `take`, which returns the width of the next one, or nil to stop.
  private func read(bits: Int, _ take: (Int) -> Table.Step) -> End? {
    let (clear, stop) = (1 << bits, 1 << bits + 1)
    var (width, pending, count) = (bits + 1, 0, 0)
    var offset = start + 1
    while offset < photo.count {
      let length = Int(photo[offset])
      guard length > 0 else { return .marked }
      for byte in photo[offset + 1..<min(photo.count, offset + 1 + length)] {
        pending |= Int(byte) << count
        count += 8
        while count >= width {
          let code = pending & (1 << width - 1)
          pending >>= width
          count -= width
          if code == stop { return .marked }
          switch take(code) {
          case .next(let next): width = code == clear ? bits + 1 : next
          case .full: return nil
          case .unknown: return .unknown
          }
        }
      }
      offset += 1 + length
    }
    return .missing
  }

  /// Sequences of indices by code: each is another code's sequence and one index more.
  private struct Table {
    enum Step {
      /// With the width of the next code.
      case next(Int)
      case full, unknown
    }

    private let bits: Int
    private var prefix = [UInt16](repeating: 0, count: 1 << GIFCodes.widest)
    private var last = [UInt8](repeating: 0, count: 1 << GIFCodes.widest)
    private var first = [UInt8](repeating: 0, count: 1 << GIFCodes.widest)
    private var length = [UInt16](repeating: 0, count: 1 << GIFCodes.widest)
    private var next: Int
    private var previous: Int?

    init(bits: Int) {
      self.bits = bits
      next = 1 << bits + 2
      for index in 0..<1 << bits {
        (last[index], first[index], length[index]) = (
          UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index), 1
        )
      }
    }

    mutating func add(_ code: Int, to out: UnsafeMutableBufferPointer<UInt8>, _ filled: inout Int) -> Step {
      if code == 1 << bits {
        (next, previous) = (1 << bits + 2, nil)
        return .next(bits + 1)
      }
      guard code < next || code == next && previous != nil && next < 1 << GIFCodes.widest else { return .unknown }
      if let previous, next < 1 << GIFCodes.widest {
        // The newest sequence may be the current one, which then ends with its own first index.
        last[next] = first[code == next ? previous : code]
        (prefix[next], first[next]) = (UInt16(previous), first[previous])
        length[next] = length[previous] &+ 1
        next += 1
      }
      write(code, to: out, &filled)
      previous = code
      guard filled < out.count else { return .full }
      var width = bits + 1
      while width < GIFCodes.widest && next >= 1 << width { width += 1 }
      return .next(width)
    }

    /// Writes a sequence from its end, without what does not fit.
    private func write(_ code: Int, to out: UnsafeMutableBufferPointer<UInt8>, _ filled: inout Int) {
      var rest = code
      var index = filled + Int(length[code])
      filled = min(index, out.count)
      while index > 0, length[rest] > 0 {
        index -= 1
        if index < out.count { out[index] = last[rest] }
        if length[rest] == 1 { return }
        rest = Int(prefix[rest])
      }
    }
  }
}
