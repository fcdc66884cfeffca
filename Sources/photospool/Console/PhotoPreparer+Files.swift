import DurableFiles
import Messages
import Photos
import Spooling

extension PhotoPreparer {
  /// Prepares files, `ahead` of them in parallel, and calls `tell` with each one's result, in order.
  func prepareAll(
    _ files: [String], ahead: Int, _ tell: (String, Result<PreparedPhoto, any Error>) throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: (Int, Result<PreparedPhoto, any Error>).self) { group in
      var done = [Int: Result<PreparedPhoto, any Error>]()
      for index in files.indices.prefix(ahead) { group.addTask { (index, await prepareFile(files[index])) } }
      for index in files.indices {
        while done[index] == nil, let (finished, result) = try await group.next() { done[finished] = result }
        if let result = done.removeValue(forKey: index) { try tell(files[index], result) }
        let next = index + ahead
        if next < files.count { group.addTask { (next, await prepareFile(files[next])) } }
      }
    }
  }

  private func prepareFile(_ path: String) async -> Result<PreparedPhoto, any Error> {
    do {
      let limit = RequestLimits.photoBytes
      let file = try File(reading: path)
      let size = try file.entry().size
      guard size <= limit else { throw Refusal.tooLarge(file: path, bytes: size, limit: limit) }
      let bytes = try PhotoBytes { take in _ = try file.read(limit: limit) { take($0) } }
      return .success(try await prepare(bytes))
    } catch {
      return .failure(error)
    }
  }
}
