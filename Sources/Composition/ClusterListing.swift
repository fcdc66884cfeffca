import Clusters
import Messages
import Settings

/// The requests that wait in the queue of a cluster, whatever host has accepted them.
package struct ClusterListing: Sendable {
  /// A line of `queue --cluster --json`. Keys are never renamed once released.
  package struct Line: Codable, Sendable {
    package let request: String
    package let conversation: String
    /// The name of the host that accepted it.
    package let host: String
    /// The name of the host that publishes it; nil while its partition has no owner.
    @OrNull package var owner: String?
    package let acceptedAt: Timestamp
    package let messages: Int
    /// The size of its files as dropped.
    package let bytes: Int
    /// Whether its conversation is held.
    package fileprivate(set) var held = false
  }

  private let queue: any Queue
  private let seal: ClusterSeal

  /// Makes connections of its own.
  ///
  /// - Throws: an error in the configuration, such as a missing section or an unreadable secret.
  package init(_ settings: Settings) throws {
    guard settings.cluster.isConfigured else {
      throw Failure(
        .configuration,
        "this host is in no cluster; add a `cluster:` section to its configuration, or leave out --cluster")
    }
    self.init(queue: try settings.makeQueue(), seal: ClusterSeal(secret: try settings.clusterSecret()))
  }

  init(queue: any Queue, seal: ClusterSeal) {
    self.queue = queue
    self.seal = seal
  }

  package func close() async { await queue.close() }

  /// Lists what waits now, the requests of each conversation in order.
  ///
  /// - Parameter unreadable: is told of records that cannot be opened.
  /// - Throws: `Failure` if the servers do not answer, or refuse; errors of `tell`.
  package func forEachLine(_ tell: (Line) throws -> Void, unreadable: (String) -> Void) async throws {
    do {
      let names = Dictionary(try await queue.beats().map { ($0.beat.host, $0.beat.name) }) { first, _ in first }
      let owners = try await queue.owners()
      for partition in Partition.all {
        let owner = owners[partition].map { names[$0] ?? $0.text }
        let (lines, held) = try await waiting(in: partition, unreadable) { request in
          Line(
            request: request.request, conversation: request.conversation,
            host: names[request.host] ?? request.host.text, owner: owner,
            acceptedAt: Timestamp(milliseconds: request.acceptedAt), messages: request.messages.count,
            bytes: request.messages.reduce(0) { $0 + $1.bytes })
        }
        // A hold stands behind the requests that it holds up.
        for var line in lines {
          line.held = held.contains(line.conversation)
          try tell(line)
        }
      }
    } catch QueueError.refused(let sentence) {
      throw Failure(.configuration, sentence)
    } catch let error as QueueError {
      throw Failure(.unavailable, error.description)
    }
  }

  /// The requests of a partition, and the conversations that are held.
  private func waiting(
    in partition: Partition, _ unreadable: (String) -> Void, _ line: (RelayedRequest) -> Line
  ) async throws(QueueError) -> (lines: [Line], held: Set<String>) {
    var (lines, held, position) = ([Line](), Set<String>(), Position(0))
    while let record = try await queue.record(after: position, in: partition) {
      position = record.position
      do throws(SealedError) {
        switch try seal.contents(of: record) {
        case .requests(let requests): lines += requests.map(line)
        case .hold(let conversation): held.insert(conversation)
        case .release(let conversation): held.remove(conversation)
        case .cancel, .flush: break
        }
      } catch { unreadable(error.description) }
    }
    return (lines, held)
  }
}
