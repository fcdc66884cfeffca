import Digests
import Foundation
import HTTP
import Messages
import Secrets
import Stores
import Synchronization

/// Uploads files to a bucket by the product's own way, several at a time, and nothing else: what `uploads.py` measures
/// beside curl.
///
///     UPLOADS_KEY=… UPLOADS_SECRET=… uploads ENDPOINT BUCKET AT_ONCE AUTHORITY_FILE FILE…
@main struct Uploads {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let environment = ProcessInfo.processInfo.environment
    guard arguments.count > 5, let atOnce = Int(arguments[3]), let key = environment["UPLOADS_KEY"],
      let secret = environment["UPLOADS_SECRET"]
    else {
      fatalError("usage: UPLOADS_KEY=… UPLOADS_SECRET=… uploads ENDPOINT BUCKET AT_ONCE AUTHORITY_FILE FILE…")
    }
    var options = HTTPOptions()
    options.authorityFile = arguments[4].isEmpty ? nil : arguments[4]
    let store = S3Store(
      try S3Service(endpoint: arguments[1], region: "us-east-1", bucket: arguments[2]),
      credentials: Renewable(S3Credentials(accessKey: key, secretKey: Secret(secret))), client: HTTPClient(options))
    let files = Files(Array(arguments[5...]))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<atOnce {
        group.addTask {
          while let file = files.next() { try await upload(file, to: store) }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func upload(_ file: String, to store: S3Store) async throws {
    let bytes = try contents(of: file)
    let furthest = Mutex(-1.0)
    _ = try await store.put(ObjectName(SHA256Digest(of: bytes)), bytes, contentType: "application/octet-stream") {
      fraction in
      furthest.withLock { furthest in
        precondition(fraction > furthest && fraction <= 1, "progress fell from \(furthest) to \(fraction)")
        furthest = fraction
      }
    }
    precondition(furthest.withLock { $0 } == 1, "an upload ended at \(furthest.withLock { $0 })")
  }
}

extension Uploads {
  private static func contents(of path: String) throws -> [UInt8] {
    guard let file = fopen(path, "rb") else { throw POSIXError(.ENOENT) }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let size = ftell(file)
    rewind(file)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = fread(buffer.baseAddress, 1, size, file)
    }
  }
}

/// The files that nobody has taken yet.
private final class Files: Sendable {
  private let left: Mutex<[String]>

  init(_ files: [String]) { left = Mutex(files.reversed()) }

  func next() -> String? { left.withLock { $0.popLast() } }
}
