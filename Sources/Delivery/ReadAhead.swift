/// Takes a row of names in batches, one after the other: while one batch is entered, the next is read.
struct ReadAhead<Batch: Sendable>: Sendable {
  /// Reads from the front of the names, at least one of them.
  let read: @Sendable (ArraySlice<String>) async throws -> (batch: Batch, taken: Int)

  /// Has every batch entered, in order. What fails ends it; nothing is being read any more when it returns.
  ///
  /// - Parameters:
  ///   - isStopping: whether no further batch is to be entered.
  ///   - hasJobs: whether something else is to be done between two batches.
  ///   - doJobs: does it. What was read before is read again after it, as it may have become another.
  func take(
    _ names: [String], isolation: isolated (any Actor)? = #isolation, isStopping: () -> Bool, hasJobs: () -> Bool,
    doJobs: () async -> Void, enter: (Batch) async throws -> Void
  ) async throws {
    var rest = names[...]
    var next: Task<(batch: Batch, taken: Int), any Error>?
    do {
      while !rest.isEmpty, !isStopping() {
        if rest.count < names.count, hasJobs() {
          _ = await next?.result
          next = nil
          await doJobs()
        }
        let (batch, taken) = try await (next ?? begin(rest)).value
        rest = rest.dropFirst(taken)
        next = rest.isEmpty || isStopping() || hasJobs() ? nil : begin(rest)
        try await enter(batch)
      }
    } catch {
      _ = await next?.result
      throw error
    }
    _ = await next?.result
  }

  private func begin(_ names: ArraySlice<String>) -> Task<(batch: Batch, taken: Int), any Error> {
    Task { [read] in try await read(names) }
  }
}
