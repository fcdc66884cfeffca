/// A place in a list or timeline: the numbers of the entry next to it.
package struct PagePlace: Sendable, Equatable, CustomStringConvertible {
  var numbers: [Int64]

  init(numbers: [Int64]) { self.numbers = numbers }

  /// Reads the output of `description`; nil for anything else.
  ///
  /// - Parameter count: 2 for a place in a list, 3 for one in a timeline.
  package init?(_ text: String, count: Int) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    numbers = parts.compactMap { Int64($0) }
    guard parts.count == count, numbers.count == count else { return nil }
  }

  package var description: String { numbers.map(String.init).joined(separator: "-") }
}
