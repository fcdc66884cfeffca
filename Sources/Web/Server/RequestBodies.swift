import HTTPTypes
import Hummingbird
import HummingbirdCore
import Messages

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
    var whole = ByteBuffer()
    try await eachPiece { piece in
      guard whole.readableBytes + piece.readableBytes <= limit else {
        throw problem
          ?? WebProblem(.contentTooLarge, "This form is larger than \(sizeInWords(limit)). Nothing was done.")
      }
      whole.writeImmutableBuffer(piece)
    }
    return whole
  }
}
