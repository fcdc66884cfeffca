import HTTP
import Matrix
import Messages

/// Keeps objects in a homeserver's media repository. The URL of an object is its `mxc://SERVER/ID`.
///
/// An upload has two steps, so that no lost answer leaves an object behind that nobody knows: the homeserver gives an
/// id, then takes one object under it, once. A homeserver that gives no id, because it does not know that step or enough
/// of the account's are open, is sent the object plainly.
///
/// There is no way for an account to delete its media: `delete` does nothing, and says nothing, as nobody could mend it.
/// Whoever runs the homeserver sets how long it keeps media. Such an object is sealed, and its keys are gone.
package struct MatrixStore: Store {
  package let name: String
  private let server: MatrixServer
  private let faults: MatrixFaults
  private let ids: MatrixMediaIDs
  private let limit: MatrixMediaLimit

  /// Ids that are asked for within one upload. More than two that cannot be used is no accident.
  private static let mostIDs = 3

  private struct Plain: Decodable {
    let uri: String

    private enum CodingKeys: String, CodingKey {
      case uri = "content_uri"
    }
  }

  /// - Throws: `.configError` for what is no homeserver's URL.
  package init(
    name: String = "matrix", _ account: MatrixAccount, client: HTTPClient, limits: HTTPLimits = HTTPLimits()
  ) throws(DeliveryError) {
    self.name = name
    server = try MatrixServer(account, client: client, limits: limits)
    faults = MatrixFaults(server: server.name, use: .media)
    ids = MatrixMediaIDs(server, faults: faults)
    limit = MatrixMediaLimit(server, faults: faults)
  }

  /// - Parameters:
  ///   - object: is told to nobody: the homeserver names what it keeps.
  ///   - contentType: goes without a file name, which would tell more than the object does.
  /// - Throws: what `MatrixFaults` makes of an answer or of none; `.tooLargeAfterCompress` for an object beyond what the
  ///   homeserver says that it takes.
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

  /// False when the id is of no use: it has expired, or was used for something else.
  private func put(
    _ bytes: [UInt8], under id: MatrixMediaID, of object: ObjectName, contentType: String, _ rising: RisingProgress
  ) async throws(DeliveryError) -> Bool {
    let answer: MatrixAnswer
    do {
      answer = try await server.ask(
        .put, "/_matrix/media/v3/upload/\(id.path)", bytes, contentType: contentType
      ) { rising.sent($0) }
    } catch {
      ids.giveBack(id, triedFor: error.wasNeverSent ? id.triedFor : object)
      throw faults.error(error)
    }
    if answer.isSuccess { return true }
    switch answer.code {
    // An earlier answer to this upload was lost.
    case "M_CANNOT_OVERWRITE_MEDIA": return id.triedFor == object
    case "M_NOT_FOUND": return false
    default:
      ids.giveBack(id, triedFor: object)
      throw faults.error(answer)
    }
  }

  private func putPlainly(
    _ bytes: [UInt8], contentType: String, _ rising: RisingProgress
  ) async throws(DeliveryError) -> String {
    let answer: MatrixAnswer
    do {
      answer = try await server.ask(.post, "/_matrix/media/v3/upload", bytes, contentType: contentType) {
        rising.sent($0)
      }
    } catch {
      throw faults.error(error)
    }
    guard answer.isSuccess, let id = answer.decoded(as: Plain.self).flatMap({ MatrixMediaID($0.uri) }) else {
      throw faults.error(answer)
    }
    rising.end()
    return id.uri
  }

  package func delete(_ object: ObjectName) async throws(DeliveryError) {}

  package func check() async throws(DeliveryError) -> String {
    let most = try await limit.bytes().map { ", up to \($0) bytes each" } ?? ""
    return "keeps photos in the media of \(server.name)\(most)"
  }
}
