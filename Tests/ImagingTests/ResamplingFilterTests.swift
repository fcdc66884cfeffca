import Testing

@testable import Imaging

@Suite struct ResamplingFilterTests {
  @Test(
    "The weights of every result sum to one and lie within the line",
    arguments: [(4000, 2048), (2048, 300), (1000, 999), (7, 3), (3, 1), (1, 1), (100, 200), (65500, 2048)])
  func weights(source: Int, target: Int) {
    for (mirrored, multiple) in [(false, 1), (true, 8)] {
      let filter = ResamplingFilter(
        source: source, sourceExtent: Double(source) - 0.5, target: target, targetExtent: Double(target),
        mirrored: mirrored, multiple: multiple)
      #expect(filter.taps % multiple == 0)
      for index in 0..<target {
        let weights = filter.weights[index * filter.taps..<(index + 1) * filter.taps]
        let heavy = weights.enumerated().filter { $0.element != 0 }.map { Int(filter.first[index]) + $0.offset }
        #expect(weights.reduce(0) { $0 + Int($1) } == ResamplingFilter.one)
        #expect((heavy.min() ?? -1) >= 0 && (heavy.max() ?? source) < source)
      }
    }
  }

  @Test("A line of the same length is copied, and copied backwards when mirrored")
  func identity() {
    let same = ResamplingFilter(
      source: 40, sourceExtent: 40, target: 40, targetExtent: 40, mirrored: false, multiple: 1)
    #expect(same.copies && same.first == (0..<40).map { Int32($0) })
    let mirrored = ResamplingFilter(
      source: 40, sourceExtent: 40, target: 40, targetExtent: 40, mirrored: true, multiple: 1)
    #expect(mirrored.copies && mirrored.first == (0..<40).reversed().map { Int32($0) })
  }

  @Test("An even plane stays even, whatever it becomes", arguments: [0, 1, 127, 254, 255])
  func even(level: UInt8) {
    let plane = Plane(width: 201, height: 99)
    for y in 0..<99 { plane.row(y).update(repeating: level, count: 201) }
    let picture = Picture(size: PixelSize(width: 201, height: 99), planes: [plane], orientation: .upright)
    for width in [200, 150, 100, 33, 5, 1] {
      let small = picture.resized(to: PixelSize(width: width, height: max(1, width / 2))).planes[0]
      for y in 0..<small.height {
        for x in 0..<small.width { #expect(small.row(y)[x] == level) }
      }
    }
  }
}
