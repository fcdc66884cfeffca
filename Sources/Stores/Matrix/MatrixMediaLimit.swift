import HTTP
import Matrix
import Messages
import Synchronization

/// The homeserver's size limit, asked once an hour.
final class MatrixMediaLimit: Sendable {
  private let server: MatrixServer
  private let known = Mutex<(bytes: Int?, askedAt: ContinuousClock.Instant)?>(nil)
  private static let validity = Duration.seconds(3600)

  init(_ server: MatrixServer) { self.server = server }

  /// - Throws: `.tooLargeAfterCompress` with both sizes. A homeserver without a limit decides when it gets the object.
  func check(_ bytes: Int) async throws(DeliveryError) {
    guard let limit = try await self.bytes(), bytes > limit else { return }
    throw DeliveryError(
      .tooLargeAfterCompress,
      "the photo has \(bytes) bytes as it is to be uploaded; \(server.name) takes \(limit) at most")
  }

  /// nil if the homeserver has none.
  func bytes() async throws(DeliveryError) -> Int? {
    if let known = known.withLock({ $0 }), known.askedAt.duration(to: .now) < Self.validity { return known.bytes }
    let answer = try await server.ask(.get, "/_matrix/client/v1/media/config")
    guard answer.isSuccess || answer.code == "M_UNRECOGNIZED" else { throw server.faults.error(answer) }
    let bytes: Int? = answer.member("m.upload.size")
    known.withLock { $0 = (bytes, .now) }
    return bytes
  }
}
