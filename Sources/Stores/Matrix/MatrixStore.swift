import HTTP
import Matrix
import Messages

/// Stores objects in a homeserver's media repository, as `mxc://SERVER/ID`.
///
/// An upload has two steps, so that a lost answer leaves no unknown object: the homeserver gives an id, then takes one
/// object under it, once. A homeserver that gives no id gets the object in one step.
///
/// Accounts cannot delete media, so `delete` silently does nothing. The homeserver's retention decides. Such an object
/// is sealed, and its keys are gone.
package struct MatrixStore: Store {
  package let name: String
  private let server: MatrixServer
  private let ids: MatrixMediaIDs
  private let limit: MatrixMediaLimit

  /// Ids per upload. More than two unusable ones are no coincidence.
  private static let mostIDs = 3

  /// - Throws: `.configError` for an invalid URL.
  package init(
    name: String = "matrix", _ account: MatrixAccount, client: HTTPClient, limits: HTTPLimits = HTTPLimits()
  ) throws(DeliveryError) {
    self.name = name
    server = try MatrixServer(account, for: .media, client: client, limits: limits)
    ids = MatrixMediaIDs(server)
    limit = MatrixMediaLimit(server)
  }

  /// - Parameters:
  ///   - object: not used; the homeserver names objects.
  ///   - contentType: sent without a file name, which would reveal more.
  /// - Throws: the error of `MatrixFaults`; `.tooLargeAfterCompress` beyond the homeserver's limit.
  package func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String {
    let rising = RisingProgress(progress)
    try await limit.check(bytes.count)
    for _ in 1...Self.mostIDs {
      guard let id = try await ids.take(for: object) else {
        return try await putPlainly(bytes, contentType: contentType, rising)
      }
      if try await put(bytes, under: id, of: object, contentType: contentType, rising) {
        rising.end()
        return id.uri
      }
    }
    throw DeliveryError(.serverBusy, "\(server.name) gives ids for media that it does not know or has used already")
  }

  /// False if the id is unusable: expired, or used for another object.
  private func put(
    _ bytes: [UInt8], under id: MatrixMediaID, of object: ObjectName, contentType: String, _ rising: RisingProgress
  ) async throws(DeliveryError) -> Bool {
    let answer: MatrixAnswer
    do {
      answer = try await server.send(
        .put, "/_matrix/media/v3/upload/\(id.path)", bytes, contentType: contentType
      ) { rising.sent($0) }
    } catch {
      ids.giveBack(id, triedFor: error.wasNeverSent ? id.triedFor : object)
      throw server.faults.error(error)
    }
    if answer.isSuccess { return true }
    switch answer.code {
    // The answer to an earlier upload was lost.
    case "M_CANNOT_OVERWRITE_MEDIA": return id.triedFor == object
    case "M_NOT_FOUND": return false
    default:
      // After a refusal of its own the homeserver has not stored the object; after any other answer it may have.
      ids.giveBack(id, triedFor: answer.code != nil && answer.status < 500 ? id.triedFor : object)
      throw server.faults.error(answer)
    }
  }

  private func putPlainly(
    _ bytes: [UInt8], contentType: String, _ rising: RisingProgress
  ) async throws(DeliveryError) -> String {
    let answer = try await server.ask(.post, "/_matrix/media/v3/upload", bytes, contentType: contentType) {
      rising.sent($0)
    }
    guard let id = MatrixMediaID(try server.need("content_uri", of: answer)) else { throw server.faults.error(answer) }
    rising.end()
    return id.uri
  }

  package func delete(_ object: ObjectName) async throws(DeliveryError) {}

  package func check() async throws(DeliveryError) -> String {
    let most = try await limit.bytes().map { ", up to \($0) bytes each" } ?? ""
    return "keeps photos in the media of \(server.name)\(most)"
  }
}
