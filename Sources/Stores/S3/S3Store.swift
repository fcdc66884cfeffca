import Digests
import HTTP
import Messages
import Secrets
import Signalling

/// Stores objects in a bucket of an S3 service. An object is put only if it does not exist, so a repeated upload is
/// harmless. A service that does not support that gets plain requests from then on, which is harmless, too, because
/// names stand for bytes.
package struct S3Store: Store {
  package let name: String
  private let bucket: S3Bucket
  private let naming: ObjectNaming
  private let publicURL: String?
  private let cannotPutCreateOnly = OneWayFlag()

  /// - Parameter publicURL: the receivers' URL before `/NAME`; nil means the bucket's own.
  package init(
    name: String = "s3", _ service: S3Service, credentials: Renewable<S3Credentials>,
    naming: ObjectNaming = .digest, publicURL: String? = nil, client: HTTPClient, limits: HTTPLimits = HTTPLimits()
  ) {
    self.name = name
    bucket = S3Bucket(service: service, credentials: credentials, client: client, limits: limits)
    self.naming = naming
    self.publicURL = publicURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
  }

  private var faults: StoreFaults { bucket.faults }

  package func objectName(_ origin: ObjectOrigin) -> ObjectName { naming.name(origin) }

  /// - Throws: the error of `StoreFaults`; `.conflict` if the name has other bytes, which is possible only without a
  ///   digest in it.
  package func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String {
    let upload = Upload(object, bytes, contentType: contentType, progress: RisingProgress(progress))
    if let answer = try await putCreateOnly(upload) {
      let isTaken = answer.status == 412
      if !isTaken { try expectKept(answer) }
      // A digest in the name identifies the bytes.
      if isTaken, !upload.isNamedByDigest, try await !isKept(upload) {
        throw DeliveryError(.conflict, "\(faults.store) lost an object that was there a moment ago")
      }
    } else {
      try await putPlainly(upload)
    }
    upload.progress.end()
    return url(of: object)
  }

  /// nil if the service does not support it.
  private func putCreateOnly(_ upload: Upload) async throws(DeliveryError) -> StoreAnswer? {
    if cannotPutCreateOnly.isSet { return nil }
    let answer = try await send(upload, headers: upload.headers + [HTTPHeader("If-None-Match", "*")])
    guard answer.status == 501 || (answer.status == 400 && answer.code == "NotImplemented") else { return answer }
    cannotPutCreateOnly.set()
    return nil
  }

  /// Puts an object without a condition. A name without a digest is checked first.
  private func putPlainly(_ upload: Upload) async throws(DeliveryError) {
    if !upload.isNamedByDigest, try await isKept(upload) { return }
    try expectKept(try await send(upload, headers: upload.headers))
  }

  /// Checks for the `ETag` of S3, because another server at that address may answer anything with success.
  private func expectKept(_ answer: StoreAnswer) throws(DeliveryError) {
    guard answer.isSuccess else { throw faults.error(answer) }
    guard answer.response.header("ETag") != nil else { throw faults.noS3(answer) }
  }

  package func delete(_ object: ObjectName) async throws(DeliveryError) {
    let answer = try await send(.delete, object)
    let isMissing = answer.status == 404 && answer.code != "NoSuchBucket" && !answer.isPage
    guard answer.isSuccess || isMissing else { throw faults.error(answer) }
  }

  /// Asks for a missing object, which tests the bucket and the credentials.
  package func check() async throws(DeliveryError) -> String {
    let answer = try await send(.get, ObjectName(unchecked: "photospool-check-\(UInt64.random(in: 0...(.max)))"))
    switch (answer.status, answer.code) {
    case (200..<300, nil): throw faults.noS3(answer)
    case (404, "NoSuchKey"?):
      return "\(faults.store) has the bucket and accepts the credentials"
    case (403, "AccessDenied"?):
      return "\(faults.store) accepts the credentials, and does not let them read"
    default: throw faults.error(answer)
    }
  }

  /// Whether an object of the name exists with these bytes.
  ///
  /// - Throws: `.conflict` if it has other bytes.
  private func isKept(_ upload: Upload) async throws(DeliveryError) -> Bool {
    let answer = try await send(.head, upload.object)
    if answer.status == 404 { return false }
    guard answer.isSuccess else { throw faults.error(answer) }
    guard answer.response.header(Upload.digestHeader) == upload.digest.hex else {
      throw DeliveryError(.conflict, "\(faults.store) keeps another object of the same name")
    }
    return true
  }

  private func send(_ upload: Upload, headers: [HTTPHeader]) async throws(DeliveryError) -> StoreAnswer {
    try await send(.put, upload.object, headers, upload.bytes, upload.digest) { upload.progress.sent($0) }
  }

  private func send(
    _ method: HTTPRequest.Method, _ object: ObjectName, _ headers: [HTTPHeader] = [], _ body: [UInt8] = [],
    _ digest: SHA256Digest? = nil, progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(DeliveryError) -> StoreAnswer {
    do {
      return try await bucket.send(method, object, headers: headers, body: body, digest: digest, progress: progress)
    } catch { throw faults.error(error) }
  }

  private func url(of object: ObjectName) -> String {
    publicURL.map { "\($0)/\(object.text.percentEncoded(keeping: "/"))" } ?? bucket.service.url(of: object)
  }
}

/// An upload in progress.
private struct Upload: Sendable {
  let object: ObjectName
  let bytes: [UInt8]
  let digest: SHA256Digest
  /// The name identifies the bytes.
  let isNamedByDigest: Bool
  let headers: [HTTPHeader]
  let progress: RisingProgress

  /// The header with the digest, for names without one.
  static let digestHeader = "x-amz-meta-sha256"

  init(_ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: RisingProgress) {
    self.object = object
    self.bytes = bytes
    self.progress = progress
    digest = object.digest ?? SHA256Digest(of: bytes)
    isNamedByDigest = object.text.contains(digest.hex)
    let type = HTTPHeader("Content-Type", contentType)
    headers = isNamedByDigest ? [type] : [type, HTTPHeader(Self.digestHeader, digest.hex)]
  }
}
