import Blocking

/// Runs several blocking disk calls at once: the disk answers faster with more requests in its queue.
struct ConcurrentMap: Sendable {
  private static let hands = 8
  /// Items per call.
  private static let slice = 32
  private static let pool = BlockingPool(label: "janitor", threads: hands)

  /// The results of `work` for `items`, in order. Throws the first error, after all calls in progress have ended.
  static func map<Item: Sendable, Answer: Sendable>(
    _ items: [Item], _ work: @escaping @Sendable (Item) throws -> Answer
  ) async throws -> [Answer] {
    try await withThrowingTaskGroup(of: (start: Int, answers: [Answer]).self) { group in
      for start in stride(from: 0, to: items.count, by: slice) {
        let part = items[start..<min(start + slice, items.count)]
        group.addTask { (start, try await pool.run { try part.map(work) }) }
      }
      var answers = [(start: Int, answers: [Answer])]()
      for try await part in group { answers.append(part) }
      return answers.sorted { $0.start < $1.start }.flatMap(\.answers)
    }
  }
}
