import Clusters
import Control
import Messages
import Settings
import Stores

/// Tests the servers of the cluster and its store for bytes, and compares this host's destinations with those of the others.
package struct ClusterCheck: Sendable {
  private let queue: any Queue
  private let bytes: S3Blobs?
  private let routes: String

  /// Makes connections of its own.
  ///
  /// - Throws: an error in the configuration, such as an unreadable secret.
  package init(_ settings: Settings) throws {
    _ = try settings.clusterSecret()
    self.init(queue: try settings.makeQueue(), bytes: try settings.makeBytes(), routes: settings.routesDigest)
  }

  init(queue: any Queue, bytes: S3Blobs?, routes: String) {
    self.queue = queue
    self.bytes = bytes
    self.routes = routes
  }

  package func close() async { await queue.close() }

  /// Each fault, or one sentence if all is well.
  package func outcomes() async -> [ControlReply.Outcome] {
    do {
      let faults = try await self.faults()
      return faults.isEmpty
        ? [.init("cluster", isDone: true, try await compareHosts())]
        : faults.map { .init("cluster", isDone: false, $0) }
    } catch { return [.failed("cluster", error)] }
  }

  private func faults() async throws(QueueError) -> [String] {
    let faults = try await queue.faults()
    do { try await bytes?.check() } catch { return faults + ["`cluster.bytes`: \(error)"] }
    return faults
  }

  private func compareHosts() async throws -> String {
    let hosts = try await queue.beats().map(\.beat)
    let others = hosts.filter { $0.works && $0.routes != routes }.map { escaped($0.name) }.sorted()
    guard others.isEmpty else {
      throw Failure(
        .configuration,
        "\(others.joined(separator: ", ")) has other stores, networks, routes or `cluster.bytes` than this file; give all the same"
      )
    }
    let names = hosts.map { escaped($0.name) }.sorted()
    return names.isEmpty
      ? "the servers are good; no host has joined yet"
      : "the servers are good; hosts that joined: \(names.joined(separator: ", "))"
  }
}
