import Clusters
import Digests
import HTTP
import Messages
import Secrets

/// Sealed bytes of relayed requests in a bucket of an S3 service.
///
/// An object's name is `relayed/` and a digest of the record and the part, so that it reveals nothing, and a rule of the
/// bucket can delete what was left behind. The service replaces an object as a whole.
package struct S3Blobs: BlobStore {
  private let bucket: S3Bucket

  package init(
    _ service: S3Service, credentials: Renewable<S3Credentials>, client: HTTPClient, limits: HTTPLimits = HTTPLimits()
  ) {
    bucket = S3Bucket(service: service, credentials: credentials, client: client, limits: limits)
  }

  package static func object(_ name: BlobName) -> ObjectName {
    ObjectName(unchecked: "relayed/\(SHA256Digest(of: Array("\(name)".utf8)).hex)")
  }

  package func put(_ bytes: [UInt8], as name: BlobName) async throws(QueueError) {
    guard bytes.count <= mostBlobBytes else { throw .refused("\(name) has more than 64 MiB") }
    let type = HTTPHeader("Content-Type", "application/octet-stream")
    _ = try expectS3(try await send(.put, name, headers: [type], body: bytes))
  }

  package func get(_ name: BlobName) async throws(QueueError) -> [UInt8]? {
    let answer = try await send(.get, name)
    if isMissing(answer) { return nil }
    return try expectS3(answer).response.body
  }

  package func remove(_ parts: [Int], of record: RecordID) async throws(QueueError) {
    for part in parts {
      let answer = try await send(.delete, BlobName(record: record, part: part))
      guard answer.isSuccess || isMissing(answer) else { throw error(answer) }
    }
  }

  /// Asks for a missing object, which tests the bucket and the credentials.
  ///
  /// - Throws: also if the credentials do not let an owner read.
  package func check() async throws(QueueError) {
    let answer: StoreAnswer
    let object = ObjectName(unchecked: "relayed/check-\(UInt64.random(in: 0...(.max)))")
    do { answer = try await bucket.send(.get, object) } catch { throw .unavailable(error.description) }
    guard !isMissing(answer) else { return }
    guard answer.code == "AccessDenied" else { throw answer.isSuccess ? noS3(answer) : error(answer) }
    throw .refused(
      "\(bucket.faults.store) does not let the credentials read relayed bytes; allow them to get, put and delete "
        + "objects below `relayed/`, and to list the bucket")
  }

  private func send(
    _ method: HTTPRequest.Method, _ name: BlobName, headers: [HTTPHeader] = [], body: [UInt8] = []
  ) async throws(QueueError) -> StoreAnswer {
    do {
      return try await bucket.send(
        method, Self.object(name), headers: headers, body: body, replyBytes: mostBlobBytes)
    } catch {
      throw error.wasNeverSent || method == .get ? .unavailable(error.description) : .doubtful(error.description)
    }
  }

  private func isMissing(_ answer: StoreAnswer) -> Bool { answer.status == 404 && answer.code == "NoSuchKey" }

  /// Checks for the `ETag` of S3, because another server at that address may answer anything with success.
  private func expectS3(_ answer: StoreAnswer) throws(QueueError) -> StoreAnswer {
    guard answer.isSuccess else { throw error(answer) }
    guard answer.response.header("ETag") != nil else { throw noS3(answer) }
    return answer
  }

  private func noS3(_ answer: StoreAnswer) -> QueueError { .refused(bucket.faults.noS3(answer).sentence) }

  private func error(_ answer: StoreAnswer) -> QueueError {
    let error = bucket.faults.error(answer)
    if answer.code == "QuotaExceeded" || answer.status == 507 { return .full(error.sentence) }
    return switch error.cause {
    // Its answer may have been made by something in between.
    case .timeout, .network, .serverBusy: .doubtful(error.sentence)
    case .rateLimited, .conflict: .unavailable(error.sentence)
    default: .refused(error.sentence)
    }
  }
}
