/// One parser of bytes that come from outside, and what has to hold whatever they are: that it returns, within bounded
/// time and memory, and what `read` checks besides.
struct FuzzTarget: Sendable {
  /// The name of its folder in `Corpus/`, too.
  let name: String
  /// What its inputs are made of; the mutator puts these in.
  let words: [String]
  /// Reads one input. That it is refused is as good as that it is not.
  let read: @Sendable ([UInt8]) throws(BrokenProperty) -> Void

  init(
    _ name: String, words: [String] = [], read: @escaping @Sendable ([UInt8]) throws(BrokenProperty) -> Void
  ) {
    self.name = name
    self.words = words
    self.read = read
  }

  static let all: [FuzzTarget] =
    spool + seals + receiving + listening + answers + programs + processes + configuration + imaging
}

/// What had to hold, and does not.
struct BrokenProperty: Error, CustomStringConvertible {
  let description: String
}

func hold(_ condition: Bool, _ property: String) throws(BrokenProperty) {
  if !condition { throw BrokenProperty(description: property) }
}

/// What is shown to people is one line without anything that a terminal takes for a command.
func holdPlain(_ sentence: String) throws(BrokenProperty) {
  let isPlain = sentence.unicodeScalars.allSatisfy { scalar in
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
  try hold(isPlain, "a sentence has control characters: \(sentence.debugDescription)")
}

/// What an answer may make us wait.
func holdWait(_ seconds: Double?) throws(BrokenProperty) {
  try hold(seconds.map { 0...86_400 ~= $0 } ?? true, "an answer makes us wait \(seconds ?? 0) s")
}
