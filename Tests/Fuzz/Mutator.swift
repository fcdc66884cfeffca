import TestSupport

/// Makes new inputs by a few changes that often break parsers.
struct Mutator {
  var random: SeededRandom
  let corpus: [[UInt8]]
  let words: [[UInt8]]

  /// The longest input; longer ones find nothing more and cost time.
  private static let longest = 1 << 14
  private static let numbers = [
    "0", "-1", "1", "255", "65536", "2147483647", "2147483648", "4294967296", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "18446744073709551615", "1e400", "-0.5", "99999999999999999999",
  ].map { Array($0.utf8) }
  private static let scraps: [[UInt8]] = [
    [0], [0x0A], [0x0D, 0x0A], [0x1B, 0x5B], [0x7F], [0x80], [0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80],
    [0xCC, 0x81], [0xE2, 0x80, 0xAE], [0xEF, 0xBB, 0xBF], [0xF0, 0x9F, 0x93, 0xB7],
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], [0, 0, 0, 0, 0, 0, 0, 0x80],
  ]

  init(seed: UInt64, corpus: [[UInt8]], words: [String]) {
    random = SeededRandom(seed: seed)
    self.corpus = corpus
    self.words = words.map { Array($0.utf8) }
  }

  mutating func next() -> [UInt8] {
    var input = corpus.isEmpty ? [] : corpus[random.below(corpus.count)]
    for _ in 0...random.below(6) { change(&input) }
    return input.count > Self.longest ? Array(input.prefix(Self.longest)) : input
  }

  private mutating func change(_ input: inout [UInt8]) {
    switch random.below(10) {
    case 0: if !input.isEmpty { input[random.below(input.count)] ^= 1 << UInt8(random.below(8)) }
    case 1: if !input.isEmpty { input[random.below(input.count)] = UInt8(random.below(256)) }
    case 2: input.replaceSubrange(range(in: input), with: [])
    case 3: input.insert(contentsOf: input[range(in: input)], at: place(in: input))
    case 4: input.insert(contentsOf: pick(words) ?? [], at: place(in: input))
    case 5: input.replaceSubrange(range(in: input), with: pick(words) ?? [])
    case 6: input.insert(contentsOf: pick(Self.scraps) ?? [], at: place(in: input))
    case 7: replaceNumber(in: &input)
    case 8:
      let other = pick(corpus) ?? []
      input.insert(contentsOf: other[range(in: other)], at: place(in: input))
    default:
      // Nesting, and whatever grows with repetition.
      let piece = Array(input[range(in: input)].prefix(32))
      for _ in 0..<(1 << random.below(9)) where !piece.isEmpty { input.insert(contentsOf: piece, at: 0) }
    }
  }

  private mutating func replaceNumber(in input: inout [UInt8]) {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let starts = input.indices.filter { digits ~= input[$0] && ($0 == 0 || !(digits ~= input[$0 - 1])) }
    guard !starts.isEmpty else { return }
    let start = starts[random.below(starts.count)]
    let end = input[start...].firstIndex { !(digits ~= $0) } ?? input.endIndex
    input.replaceSubrange(start..<end, with: pick(Self.numbers) ?? [])
  }

  private mutating func pick(_ choices: [[UInt8]]) -> [UInt8]? {
    choices.isEmpty ? nil : choices[random.below(choices.count)]
  }

  private mutating func place(in input: [UInt8]) -> Int { random.below(input.count + 1) }

  private mutating func range(in input: [UInt8]) -> Range<Int> {
    let start = place(in: input)
    let most = random.below(2) == 0 ? 8 : input.count
    return start..<min(input.count, start + random.below(most + 1))
  }
}
