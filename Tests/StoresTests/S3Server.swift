import Digests
import Foundation
import HTTP
import Secrets
import TestSupport

@testable import Stores

/// Independent implementations of S3 that check signatures. Each starts when a test first needs it.
enum S3Server: CaseIterable, CustomStringConvertible {
  case openStackSwift
  case seaweedFS

  private static let servers: [S3Server: Result<TestServer, any Error>] = Dictionary(
    uniqueKeysWithValues: allCases.map { server in (server, Result { try TestServer(server.script) }) })

  static let installed = allCases.filter { server in
    let folder = URL(fileURLWithPath: python).deletingLastPathComponent().path
    return FileManager.default.isExecutableFile(atPath: "\(folder)/\(server.program)")
  }

  private var script: String {
    switch self {
    case .openStackSwift: "openstack_swift.py"
    case .seaweedFS: "seaweedfs.py"
    }
  }

  private var program: String {
    switch self {
    case .openStackSwift: "swift-proxy-server"
    case .seaweedFS: "weed"
    }
  }

  var description: String { script }

  private func facts() throws -> TestServer {
    guard let server = Self.servers[self] else { throw CocoaError(.featureUnsupported) }
    return try server.get()
  }

  func endpoint() throws -> String { try facts()["endpoint"] }

  func credentials(secret: String? = nil) throws -> S3Credentials {
    let facts = try facts()
    return S3Credentials(accessKey: facts["accessKey"], secretKey: Secret(secret ?? facts["secretKey"]))
  }

  func service(bucket: String = "photos", addressing: S3Service.Addressing = .path) throws -> S3Service {
    let endpoint = try endpoint()
    let host = addressing == .path ? endpoint : endpoint.replacingOccurrences(of: "127.0.0.1", with: "localhost")
    return try S3Service(endpoint: host, region: "us-east-1", bucket: bucket, addressing: addressing)
  }

  /// An upload URL for one object, from an independent signer.
  func presigned(_ object: ObjectName, contentType: String?, secondsFromNow: Int = 0) throws -> String {
    let facts = try facts()
    var arguments = [
      python, pythonScript("sigv4.py"), "\(facts["endpoint"])/photos/\(object)", "us-east-1", facts["accessKey"],
      facts["secretKey"],
    ]
    arguments += [contentType ?? "", String(secondsFromNow)]
    return try run(arguments).output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The object of the bucket at the encoded `path`; the status is 404 without one.
  func fetch(_ path: String) async throws -> HTTPResponse {
    let host = try endpoint().replacingOccurrences(of: "http://", with: "")
    let headers = try SigV4(credentials: credentials(), region: "us-east-1").headers(
      .get, host: host, path: path, payload: SHA256Digest(of: []), at: .now())
    return try await HTTPClient().send(HTTPRequest(.get, endpoint() + path, headers: headers))
  }
}
