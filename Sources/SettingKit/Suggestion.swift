import Messages

/// The one of `candidates` that `word` probably means; nil if none is near. Near means at most one wrong, missing,
/// additional or swapped character per three, or the beginning of one candidate only, ignoring case, `_` and `-`.
package func suggestion(for word: String, among candidates: [String]) -> String? {
  let written = plain(word)
  guard written.count <= 100 else { return nil }
  let begun = candidates.filter { plain($0).starts(with: written) }
  if written.count >= 3, begun.count == 1 { return begun.first }
  let nearest = candidates.map { (candidate: $0, distance: editDistance(written, plain($0))) }
    .min { $0.distance < $1.distance }
  guard let nearest, nearest.distance <= max(1, written.count / 3) else { return nil }
  return nearest.candidate
}

private func plain(_ word: String) -> [Character] {
  word.lowercased().filter { $0 != "_" && $0 != "-" }
}

/// The number of changed, added, removed or swapped characters between both.
package func editDistance(_ left: [Character], _ right: [Character]) -> Int {
  var beforeLast = [Int]()
  var last = Array(0...right.count)
  for row in 0..<left.count {
    var current = [row + 1]
    for column in 0..<right.count {
      let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
      var best = min(replaced, last[column + 1] + 1, current[column] + 1)
      if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
        best = min(best, beforeLast[column - 1] + 1)
      }
      current.append(best)
    }
    (beforeLast, last) = (last, current)
  }
  return last[right.count]
}

/// A user's text for a sentence: in backquotes, cut at 60 characters, with visible control characters.
package func quoted(_ text: String) -> String { "`\(escaped(text, limit: 60))`" }
