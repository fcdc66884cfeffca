import Blocking
import DurableFiles
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Messages
import Spooling

extension Request {
  /// Passes the body on, piece by piece. Hummingbird ends the body of a cut connection like any other, so its bytes are
  /// counted.
  ///
  /// - Throws: `WebProblem` if the connection ends first. Nobody hears it, and it is no error of the page.
  func eachPiece(_ take: (ByteBuffer) async throws -> Void) async throws {
    let length = headers[.contentLength].flatMap { Int($0) }
    var (pieces, bytes) = (body.makeAsyncIterator(), 0)
    while let piece = try await Self.next(of: &pieces) {
      bytes += piece.readableBytes
      try await take(piece)
    }
    if let length, bytes < length { throw Self.cutOff }
  }

  private static func next(of pieces: inout RequestBody.AsyncIterator) async throws(WebProblem) -> ByteBuffer? {
    do { return try await pieces.next() } catch { throw cutOff }
  }

  private static let cutOff = WebProblem(
    .badRequest, "The connection was cut before everything had come. Send it again.")

  /// The whole body.
  ///
  /// - Parameter problem: thrown if it is larger than `limit` bytes, in place of a general one.
  func whole(upTo limit: Int, orElse problem: WebProblem? = nil) async throws -> ByteBuffer {
    let tooLarge =
      problem ?? WebProblem(.contentTooLarge, "This form is larger than \(sizeInWords(limit)). Nothing was done.")
    if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
    var whole = ByteBuffer()
    try await eachPiece { piece in
      guard whole.readableBytes + piece.readableBytes <= limit else { throw tooLarge }
      whole.writeImmutableBuffer(piece)
    }
    return whole
  }

  /// Writes a photo to `tmp/` as it comes. The caller moves it away or removes it, and the janitor what a kill leaves.
  ///
  /// - Returns: its name there.
  /// - Throws: `WebProblem` if it is empty, too large, cut off, or without room; then nothing is left.
  func photo(called original: String, into spool: Spool, pool: BlockingPool) async throws -> String {
    let tooLarge = WebProblem(
      .contentTooLarge,
      "\(shown(original)) is larger than \(sizeInWords(RequestLimits.photoBytes)). Send a smaller copy.")
    if let length = headers[.contentLength].flatMap({ Int($0) }), length > RequestLimits.photoBytes { throw tooLarge }
    let name = Spool.unnamed()
    let file = try await pool.run {
      try UploadLimits.checkRoom(in: spool)
      return try spool.tmp.file(creating: name, mode: 0o660)
    }
    do {
      var bytes = 0
      try await eachPiece { piece in
        bytes += piece.readableBytes
        if bytes > RequestLimits.photoBytes { throw tooLarge }
        try await pool.run { try piece.withUnsafeReadableBytes { try file.write($0) } }
      }
      if bytes == 0 { throw WebProblem(.unprocessableContent, "\(shown(original)) is empty. Choose it again.") }
      return name
    } catch {
      try? await pool.run { try spool.tmp.remove(name) }
      throw error
    }
  }
}
