import DurableFiles
import Messages
import Photos
import Spooling

/// Prepares many files in parallel, with results in order.
struct Preparing {
  private let preparer: any PhotoPreparer
  private let ahead: Int

  init(_ preparer: any PhotoPreparer, ahead: Int) {
    self.preparer = preparer
    self.ahead = max(1, ahead)
  }

  /// Calls `tell` with every file and its result, in order.
  func forEach(_ files: [String], _ tell: (String, Result<PreparedPhoto, any Error>) throws -> Void) async throws {
    try await withThrowingTaskGroup(of: (Int, Result<PreparedPhoto, any Error>).self) { group in
      var done = [Int: Result<PreparedPhoto, any Error>]()
      for index in files.indices.prefix(ahead) { group.addTask { (index, await prepare(files[index])) } }
      for index in files.indices {
        while done[index] == nil, let (finished, result) = try await group.next() { done[finished] = result }
        if let result = done.removeValue(forKey: index) { try tell(files[index], result) }
        let next = index + ahead
        if next < files.count { group.addTask { (next, await prepare(files[next])) } }
      }
    }
  }

  private func prepare(_ path: String) async -> Result<PreparedPhoto, any Error> {
    do {
      return .success(try await preparer.prepare(Self.photo(at: path)))
    } catch {
      return .failure(error)
    }
  }

  private static func photo(at path: String) throws -> PhotoBytes {
    let limit = RequestLimits.photoBytes
    let file = try File(reading: path)
    let size = try file.entry().size
    guard size <= limit else { throw Refusal.tooLarge(file: path, bytes: size, limit: limit) }
    return try PhotoBytes { take in _ = try file.read(limit: limit) { take($0) } }
  }
}
