import CPNG
import Messages
import Photos

/// The rows of a PNG, inflated and expanded to eight bits. It holds a few of them, or all of an interlaced picture.
final class PNGRows {
  private let picture: PNGPicture
  private let size: PixelSize
  private let reader: OpaquePointer
  private let channels: Int
  /// Room for expanded rows: a group, or the picture.
  private let expanded: UnsafeMutablePointer<UInt8>?
  private var rowBytes: Int { size.width * channels }
  /// The first row of the group, and its rows.
  private var first = 0
  private var group: [UnsafePointer<UInt8>] = []

  init(_ picture: PNGPicture, size: PixelSize, limits: PhotoLimits) throws(DeliveryError) {
    self.picture = picture
    self.size = size
    channels = Int(withUnsafePointer(to: picture.samples) { cpng_channels($0) })
    let bits = UInt32(picture.bitsPerPixel)
    let room = size.width * channels * (picture.isInterlaced ? size.height : Int(CPNG_ROWS))
    let needed = picture.isInterlaced ? room : room + cpng_reader_memory(size.width, bits)
    guard needed <= limits.decoderBytes,
      let reader = picture.parts.withUnsafeBufferPointer({
        cpng_reader_open($0.baseAddress, $0.count, size.width, bits)
      })
    else { throw .tooMuchMemory("PNG", limits) }
    self.reader = reader
    let isExpanded = withUnsafePointer(to: picture.samples) { cpng_is_expanded($0) }
    expanded = isExpanded && !picture.isInterlaced ? nil : .allocate(capacity: room)
    if picture.isInterlaced { try readPasses() } else { cpng_reader_begin(reader, size.width) }
  }

  deinit {
    cpng_reader_close(reader)
    expanded?.deallocate()
  }

  /// A row and the next one, which is the same at the end. They are asked for in order, and stay until the next call.
  func pair(_ y: Int) throws(DeliveryError) -> (UnsafePointer<UInt8>, UnsafePointer<UInt8>) {
    if let expanded, picture.isInterlaced {
      let row = expanded + y * rowBytes
      return (UnsafePointer(row), UnsafePointer(y + 1 < size.height ? row + rowBytes : row))
    }
    if y >= first + group.count { try readGroup(y) }
    return (group[y - first], group[min(y + 1 - first, group.count - 1)])
  }

  private func readGroup(_ y: Int) throws(DeliveryError) {
    first = y
    group = try stored(min(Int(CPNG_ROWS), size.height - y))
    guard let expanded else { return }
    for (index, row) in group.enumerated() {
      let into = expanded + index * rowBytes
      withUnsafePointer(to: picture.samples) { cpng_expand($0, row, into, size.width) }
      group[index] = UnsafePointer(into)
    }
  }

  /// The next rows as they are stored.
  private func stored(_ count: Int) throws(DeliveryError) -> [UnsafePointer<UInt8>] {
    var status = CPNG_OK
    let rows = withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: Int(CPNG_ROWS)) { rows in
      rows.initialize(repeating: nil)
      status = cpng_reader_next(reader, UInt32(count), rows.baseAddress)
      return rows.prefix(count).compactMap(\.self)
    }
    switch status {
    case CPNG_OK: return rows
    case CPNG_TRUNCATED where picture.endsAfterRows: throw .cutOff("PNG")
    case CPNG_TRUNCATED: throw .damaged("PNG", "rows are missing")
    default: throw .damaged("PNG", "its rows make no sense")
    }
  }

  /// Adam7: seven pictures of some columns and rows each.
  private func readPasses() throws(DeliveryError) {
    guard let expanded else { return }
    let line = UnsafeMutablePointer<UInt8>.allocate(capacity: rowBytes)
    defer { line.deallocate() }
    for (x, y, right, down) in [
      (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ] where x < size.width && y < size.height {
      let width = (size.width - x + right - 1) / right
      cpng_reader_begin(reader, width)
      for top in stride(from: y, to: size.height, by: Int(CPNG_ROWS) * down) {
        let count = min(Int(CPNG_ROWS), (size.height - top + down - 1) / down)
        for (index, row) in try stored(count).enumerated() {
          withUnsafePointer(to: picture.samples) { cpng_expand($0, row, line, width) }
          scatter(line, width, to: expanded + (top + index * down) * rowBytes + x * channels, step: right * channels)
        }
      }
    }
  }

  private func scatter(
    _ line: UnsafePointer<UInt8>, _ width: Int, to row: UnsafeMutablePointer<UInt8>, step: Int
  ) {
    for x in 0..<width {
      for channel in 0..<channels { row[x * step + channel] = line[x * channels + channel] }
    }
  }
}
