/// A parser of outside bytes. For any input it must return, within limits of time and memory, and satisfy the checks in
/// `read`.
struct FuzzTarget: Sendable {
  /// Also the name of its folder in `Corpus/`.
  let name: String
  /// Words that the mutator inserts.
  let words: [String]
  let limits: Watch.Limits
  /// Reads one input; a refusal is as good as success.
  let read: @Sendable ([UInt8]) throws(BrokenProperty) -> Void

  init(
    _ name: String, words: [String] = [], limits: Watch.Limits = .standard,
    read: @escaping @Sendable ([UInt8]) throws(BrokenProperty) -> Void
  ) {
    self.name = name
    self.words = words
    self.limits = limits
    self.read = read
  }

  static let all: [FuzzTarget] =
    web + webFiles + spool + seals + olm + roomKeys + receiving + listening + answers + programs + processes
    + configuration
    + imaging + mails
}

struct BrokenProperty: Error, CustomStringConvertible {
  let description: String
}

func hold(_ condition: Bool, _ property: String) throws(BrokenProperty) {
  if !condition { throw BrokenProperty(description: property) }
}

/// Checks for one line without terminal controls.
func holdPlain(_ sentence: String) throws(BrokenProperty) {
  let isPlain = sentence.unicodeScalars.allSatisfy { scalar in
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
  try hold(isPlain, "a sentence has control characters: \(sentence.debugDescription)")
}

/// Checks the longest wait.
func holdWait(_ seconds: Double?) throws(BrokenProperty) {
  try hold(seconds.map { 0...86_400 ~= $0 } ?? true, "an answer makes us wait \(seconds ?? 0) s")
}
