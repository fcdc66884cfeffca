import Clusters
import Digests
import FoundationEssentials
import Messages

/// The bytes of photos, in pieces that servers take with their usual limit of 1 MB.
///
/// A manifest names one put and its pieces. It is written after them, so that a reader has all of one put or nothing.
extension NATSQueue: BlobStore {
  private struct Manifest: Codable {
    let put: String
    let size: Int
    let digest: String

    var isSound: Bool {
      (1...16).contains(put.utf8.count) && put.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) }
        && size >= 0 && size <= mostBlobBytes
    }
    var pieces: Int { (size + NATSQueue.piece - 1) / NATSQueue.piece }
  }

  private static let piece = 256 << 10
  private static let atOnce = 4

  package func put(_ bytes: [UInt8], as name: BlobName) async throws(QueueError) {
    guard bytes.count <= mostBlobBytes else { throw .refused("\(name) has more than 64 MiB") }
    let manifest = Manifest(
      put: String(UInt64.random(in: .min ... .max), radix: 36), size: bytes.count,
      digest: SHA256Digest(of: bytes).hex)
    _ = try await ask(mayTakeEffect: true) { stream in
      _ = try await eachOf(Array(0..<manifest.pieces), atOnce: Self.atOnce) { number in
        let start = number * Self.piece
        return try await stream.append(
          Array(bytes[start..<min(start + Self.piece, bytes.count)]), to: Self.subject(name, manifest.put, number),
          of: StreamSettings.bytes.name)
      }
      return try await stream.append(try json(manifest), to: Self.subject(name), of: StreamSettings.bytes.name)
    }
  }

  package func get(_ name: BlobName) async throws(QueueError) -> [UInt8]? {
    try await ask(mayTakeEffect: false) { stream in
      var seen: String?
      // A put that ended meanwhile has other pieces.
      while let stored = try await stream.last(of: Self.subject(name), in: StreamSettings.bytes.name) {
        guard let manifest = try? JSONDecoder().decode(Manifest.self, from: Data(stored.bytes)), manifest.isSound,
          manifest.put != seen
        else { return nil }
        seen = manifest.put
        let pieces = try await eachOf(Array(0..<manifest.pieces), atOnce: Self.atOnce) { number -> [UInt8]? in
          let subject = Self.subject(name, manifest.put, number)
          if let bytes = try await stream.anyLast(of: subject, in: StreamSettings.bytes.name) { return bytes }
          return try await stream.last(of: subject, in: StreamSettings.bytes.name)?.bytes
        }
        let bytes = pieces.flatMap { $0 ?? [] }
        if bytes.count == manifest.size, SHA256Digest(of: bytes).hex == manifest.digest { return bytes }
      }
      return nil
    }
  }

  package func remove(_ parts: [Int], of record: RecordID) async throws(QueueError) {
    try await ask(mayTakeEffect: true) { stream in
      try await stream.purge("ps.b.\(record).>", of: StreamSettings.bytes.name)
    }
  }

  private static func subject(_ name: BlobName) -> String { "ps.b.\(name.record).\(name.part)" }

  private static func subject(_ name: BlobName, _ put: String, _ number: Int) -> String {
    "\(subject(name)).\(put).\(number)"
  }
}
