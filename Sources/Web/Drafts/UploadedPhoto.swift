import Blocking
import DurableFiles
import HTTPTypes
import Hummingbird
import Messages
import Spooling

/// A photo that a browser puts: a file of `tmp/` under a name of ours. The caller moves it away or removes it; the janitor
/// removes what a kill leaves.
struct UploadedPhoto: Sendable {
  /// Its name in `tmp/`.
  let name: String

  /// Writes the body as it comes.
  ///
  /// - Throws: `WebProblem` if it is empty, too large, cut off, or without room; then nothing is left.
  init(_ request: Request, called original: String, into spool: Spool, pool: BlockingPool) async throws {
    let tooLarge = WebProblem(
      .contentTooLarge,
      "\(shown(original)) is larger than \(sizeInWords(RequestLimits.photoBytes)). Send a smaller copy.")
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > RequestLimits.photoBytes {
      throw tooLarge
    }
    let name = Spool.unnamed()
    let file = try await pool.run {
      try UploadLimits.checkRoom(in: spool)
      return try spool.tmp.file(creating: name, mode: 0o660)
    }
    do {
      var bytes = 0
      try await request.eachPiece { piece in
        bytes += piece.readableBytes
        if bytes > RequestLimits.photoBytes { throw tooLarge }
        try await pool.run { try piece.withUnsafeReadableBytes { try file.write($0) } }
      }
      if bytes == 0 { throw WebProblem(.unprocessableContent, "\(shown(original)) is empty. Choose it again.") }
      self.name = name
    } catch {
      try? await pool.run { try spool.tmp.remove(name) }
      throw error
    }
  }
}
