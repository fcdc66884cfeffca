import Blocking

/// Calls that wait for the disk, several at a time: what is not in memory comes sooner when much is asked for at once.
struct ConcurrentMap: Sendable {
  private static let hands = 8
  /// Items of one call.
  private static let slice = 32
  private static let pool = BlockingPool(label: "janitor", threads: hands)

  /// What `work` answers for each of `items`, in their order. Ends with the first error, once all that was begun has ended.
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
