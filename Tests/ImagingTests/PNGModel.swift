import TestSupport

/// A picture of random samples, how a PNG stores them (ISO/IEC 15948), and what they mean in eight bits.
struct PNGModel {
  let color: UInt8
  let depth: UInt8
  let width: Int
  let height: Int
  private let channels: Int
  private let samples: [[Int]]
  private var palette: [UInt8] = []
  private var transparency: [UInt8]?

  init(color: UInt8, depth: UInt8, width: Int, height: Int, _ random: inout SeededRandom) {
    (self.color, self.depth, self.width, self.height) = (color, depth, width, height)
    let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][Int(color)] ?? 1
    self.channels = channels
    let most = UInt64(1) << UInt64(depth)
    // Neighbours are often equal, so that all predictors are near.
    samples = (0..<height).map { y in
      (0..<width * channels).map { x in
        random.next() % 3 == 0 ? Int(random.next() % most) : (x / channels + y) * 7 % Int(most)
      }
    }
    if color == 3 { palette = (0..<3 << Int(depth)).map { _ in UInt8(random.next() % 256) } }
  }

  mutating func addTransparency(_ random: inout SeededRandom) {
    switch color {
    case 0, 2: transparency = bigEndian(Array(samples[0][..<channels]))
    case 3: transparency = (0..<1 << Int(depth)).dropLast().map { _ in UInt8(random.next() % 256) }
    default: break
    }
  }

  func file(isInterlaced: Bool, data: [UInt8]) -> PNGFile {
    var file = PNGFile(
      width: width, height: height, depth: depth, color: color, isInterlaced: isInterlaced, data: data)
    if color == 3 { file.insert("PLTE", palette) }
    if let transparency { file.insert("tRNS", transparency) }
    return file
  }

  /// Filtered rows, each after the number of a random filter.
  func rows(isInterlaced: Bool, _ random: inout SeededRandom) -> [UInt8] {
    guard isInterlaced else { return filtered(samples.map(stored), &random) }
    let passes: [(Int, Int, Int, Int)] = [
      (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ]
    return passes.flatMap { (x, y, right, down) -> [UInt8] in
      guard x < width, y < height else { return [] }
      var rows: [[UInt8]] = []
      for line in stride(from: y, to: height, by: down) {
        var pixels: [Int] = []
        for column in stride(from: x, to: width, by: right) {
          pixels += samples[line][column * channels..<(column + 1) * channels]
        }
        rows.append(stored(pixels))
      }
      return filtered(rows, &random)
    }
  }

  private func stored(_ line: [Int]) -> [UInt8] {
    if depth == 16 { return bigEndian(line) }
    let perByte = 8 / Int(depth)
    var result: [UInt8] = []
    for start in stride(from: 0, to: line.count, by: perByte) {
      var byte: UInt8 = 0
      for index in start..<start + perByte {
        byte = depth == 8 ? 0 : byte << depth
        if index < line.count { byte |= UInt8(line[index]) }
      }
      result.append(byte)
    }
    return result
  }

  private func bigEndian(_ values: [Int]) -> [UInt8] {
    var result: [UInt8] = []
    for value in values { result += [UInt8(value >> 8), UInt8(value & 255)] }
    return result
  }

  private func filtered(_ rows: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
    let pixel = max(1, channels * Int(depth) / 8)
    var above = [UInt8](repeating: 0, count: rows[0].count)
    var result: [UInt8] = []
    for row in rows {
      let filter = UInt8(random.next() % 5)
      result.append(filter)
      for index in row.indices {
        let a = index < pixel ? 0 : Int(row[index - pixel])
        let b = Int(above[index])
        let c = index < pixel ? 0 : Int(above[index - pixel])
        let estimate = a + b - c
        let nearest = [a, b, c].min { abs(estimate - $0) < abs(estimate - $1) } ?? 0
        let predictions: [Int] = [0, a, b, (a + b) / 2, nearest]
        result.append(row[index] &- UInt8(predictions[Int(filter)]))
      }
      above = row
    }
    return result
  }

  var expanded: [[UInt8]] {
    samples.map { line in
      var result: [UInt8] = []
      for x in 0..<width { result += expanded(Array(line[x * channels..<(x + 1) * channels])) }
      return result
    }
  }

  private func expanded(_ pixel: [Int]) -> [UInt8] {
    if color == 3 {
      let index = pixel[0]
      let entry = Array(palette[3 * index..<3 * index + 3])
      guard let transparency else { return entry }
      return entry + [index < transparency.count ? transparency[index] : 255]
    }
    let most = Double((1 << Int(depth)) - 1)
    let levels: [UInt8] = pixel.map { UInt8((Double($0) * 255 / most).rounded()) }
    guard transparency != nil, color < 4 else { return levels }
    let isTransparent = pixel == Array(samples[0][..<channels])
    return levels + [isTransparent ? 0 : 255]
  }
}
