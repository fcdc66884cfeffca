import Digests
import FoundationEssentials
import GoogleCloud
import HTTP
import Messages

/// Stores objects in a bucket of Google Cloud Storage, which is also where Firebase Storage keeps them. An object is put only
/// if it does not exist, so a repeated upload is harmless.
///
/// The download address is Firebase's. Everybody who knows it may read the object, and it never expires by itself. Its token is
/// random and a part of the object's metadata, from which a repeated upload reads it.
package struct GCSStore: Store {
  package let name: String
  private let service: GoogleService
  private let bucket: String
  private let naming: ObjectNaming
  private let publicURL: String?
  /// The base of Firebase's download addresses.
  private let downloads: String

  /// The metadata of an object, as far as photospool sets or reads it.
  private struct Facts: Decodable {
    let metadata: [String: String]?
  }

  /// Where Firebase looks for the token of a download address.
  private static let tokenKey = "firebaseStorageDownloadTokens"
  private static let digestKey = "sha256"

  /// - Parameters:
  ///   - publicURL: the receivers' URL before `/NAME`, which needs no token; nil means Firebase's download addresses.
  ///   - downloads: the base URL of those.
  package init(
    name: String = "gcs", _ service: GoogleService, bucket: String, naming: ObjectNaming = .digest,
    publicURL: String? = nil, downloads: String = "https://firebasestorage.googleapis.com"
  ) {
    self.name = name
    self.service = service
    self.bucket = bucket
    self.naming = naming
    self.publicURL = publicURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.downloads = downloads
  }

  package func objectName(_ origin: ObjectOrigin) -> ObjectName { naming.name(origin) }

  /// - Throws: the error of `GoogleFaults`; `.conflict` if the name has other bytes or an object without a token.
  package func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String {
    let rising = RisingProgress(progress)
    let digest = object.digest ?? SHA256Digest(of: bytes)
    let token = UUID().uuidString.lowercased()
    let own: JSONObjectText = [Self.tokenKey: token, Self.digestKey: digest.hex]
    let body = MultipartBody(
      ["name": object.text, "contentType": contentType, "metadata": own], bytes, contentType: contentType)
    let answer = try await service.ask(
      .post, "/upload/storage/v1/b/\(bucket)/o?uploadType=multipart&ifGenerationMatch=0", body.bytes,
      contentType: body.contentType
    ) { rising.sent($0) }
    let isTaken = answer.status == 412
    guard answer.isSuccess || isTaken else { throw service.faults.error(answer) }
    let standing = isTaken ? try await tokenOfKept(object, digest) : token
    rising.end()
    return url(of: object, token: standing)
  }

  package func delete(_ object: ObjectName) async throws(DeliveryError) {
    let answer = try await service.ask(.delete, path(of: object))
    // An empty answer is a success, too.
    guard 200..<300 ~= answer.status || isMissing(answer) else { throw service.faults.error(answer) }
  }

  /// Lists nothing, which tests the bucket and the account.
  package func check() async throws(DeliveryError) -> String {
    let answer = try await service.ask(
      .get, "/storage/v1/b/\(bucket)/o?maxResults=1&prefix=photospool-check-\(UInt64.random(in: 0...(.max)))")
    if answer.isSuccess { return "\(service.name) has the bucket and accepts \(service.account)" }
    if service.faults.isForbidden(answer) {
      return "\(service.name) accepts \(service.account), and does not let it list the bucket"
    }
    throw service.faults.error(answer)
  }

  /// The token of an object that is there already.
  ///
  /// - Throws: `.conflict` if its bytes are others, or it has no token.
  private func tokenOfKept(_ object: ObjectName, _ digest: SHA256Digest) async throws(DeliveryError) -> String {
    let answer = try await service.ask(.get, path(of: object))
    if isMissing(answer) {
      throw DeliveryError(.conflict, "\(service.name) lost an object that was there a moment ago")
    }
    guard answer.isSuccess, let facts = answer.decoded(as: Facts.self) else { throw service.faults.error(answer) }
    guard facts.metadata?[Self.digestKey] == digest.hex else {
      throw DeliveryError(.conflict, "\(service.name) keeps another object of the same name")
    }
    // The app may have added more.
    guard let token = facts.metadata?[Self.tokenKey]?.split(separator: ",").first else {
      throw DeliveryError(
        .conflict, "\(service.name) keeps the object without a download token; delete it, and it is uploaded again")
    }
    return String(token)
  }

  /// Cloud Storage says the same of a missing bucket, which `put` reports.
  private func isMissing(_ answer: GoogleAnswer) -> Bool { answer.status == 404 && answer.isJSON }

  private func path(of object: ObjectName) -> String { "/storage/v1/b/\(bucket)/o/\(object.text.percentEncoded())" }

  private func url(of object: ObjectName, token: String) -> String {
    if let publicURL { return "\(publicURL)/\(object.text.percentEncoded(keeping: "/"))" }
    let name = object.text.percentEncoded()
    return "\(downloads)/v0/b/\(bucket)/o/\(name)?alt=media&token=\(token.percentEncoded())"
  }
}

/// The body of a multipart upload (RFC 2387): an object's metadata, then its bytes.
private struct MultipartBody {
  let bytes: [UInt8]
  let contentType: String

  init(_ metadata: JSONObjectText, _ object: [UInt8], contentType: String) {
    // Random, so that no photo contains it.
    let boundary = "photospool-\(UUID().uuidString)"
    var bytes = Array("--\(boundary)\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".utf8)
    bytes += metadata.bytes
    bytes += "\r\n--\(boundary)\r\nContent-Type: \(contentType)\r\n\r\n".utf8
    bytes += object
    bytes += "\r\n--\(boundary)--\r\n".utf8
    self.bytes = bytes
    self.contentType = "multipart/related; boundary=\(boundary)"
  }
}
