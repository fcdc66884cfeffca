import DurableFiles
import HTTPTypes
import Messages
import Spooling
import Synchronization

/// The uploads that run, counted for each session.
final class UploadLimits: Sendable {
  private let running = Mutex<[String: Int]>([:])

  /// Uploads of one session at once.
  static let perSession = 16
  /// Bytes of the page's files in `tmp/`.
  static let waiting = 1_000_000_000
  /// Free bytes of the spool's disk below which nothing is taken.
  static let room = 200_000_000

  /// Runs an upload of a session.
  ///
  /// - Throws: `WebProblem` if too many run.
  func count<Result>(_ session: String, _ upload: () async throws -> Result) async throws -> Result {
    let isFree = running.withLock { running in
      guard running[session, default: 0] < Self.perSession else { return false }
      running[session, default: 0] += 1
      return true
    }
    guard isFree else {
      throw WebProblem(.tooManyRequests, "\(Self.perSession) photos are on their way already. Wait for one to arrive.")
    }
    defer {
      running.withLock { running in
        running[session, default: 1] -= 1
        if running[session] == 0 { running[session] = nil }
      }
    }
    return try await upload()
  }

  /// - Throws: `WebProblem` if the disk has no room for another photo.
  static func checkRoom(in spool: Spool) throws {
    if try spool.root.freeBytes() < room {
      throw WebProblem(.noRoom, "The disk of the spool is nearly full. Make room, then send again.")
    }
    let bytes = try spool.tmp.names().filter { $0.hasPrefix(".web-") }
      .reduce(0) { try $0 + size(of: $1, in: spool.tmp) }
    if bytes + RequestLimits.photoBytes > waiting {
      throw WebProblem(
        .noRoom, "Unfinished uploads fill \(sizeInWords(bytes)) of the spool's tmp directory. Try again later.")
    }
  }

  /// Bytes of a file, or of the files in a directory.
  private static func size(of name: String, in directory: Directory) throws -> Int {
    guard let entry = try directory.entry(name) else { return 0 }
    guard entry.kind == .directory, let inside = try? directory.directory(name) else { return entry.size }
    return try inside.names().reduce(0) { try $0 + (inside.entry($1)?.size ?? 0) }
  }
}
