import Clusters
import Foundation
import NATS
import TestSupport

/// Three servers, with a queue for each host that a test needs.
final class Cluster: Sendable {
  /// For tests that do the servers no harm; each uses partitions of its own.
  static func shared() throws -> Cluster { try started.get() }
  private static let started = Result { try Cluster() }

  let servers: NATSServers

  init(tls: Bool = false, bytes: Int = 16_000_000_000) throws {
    servers = try NATSServers(tls: tls, bytes: bytes)
  }

  func queue(
    _ addresses: [String]? = nil, token: String? = nil, authority: String? = nil
  ) -> NATSQueue {
    NATSQueue(
      NATSOptions(
        servers: (addresses ?? servers.addresses).compactMap(NATSAddress.init), token: token ?? servers.token,
        authority: authority, name: "test"))
  }
}

func randomHex() -> String {
  String((0..<32).compactMap { _ in "0123456789abcdef".randomElement() })
}

func record() -> RecordID {
  guard let id = RecordID(randomHex()) else { fatalError("it is made of hexadecimal characters") }
  return id
}

func host() -> HostID {
  guard let id = HostID(randomHex()) else { fatalError("it is made of hexadecimal characters") }
  return id
}

extension OwnedPartition {
  /// Reads until so many records have come.
  func all(_ count: Int) async throws -> [StoredRecord] {
    var records: [StoredRecord] = []
    while records.count < count { records += try await read(limit: 100) }
    return records
  }
}
