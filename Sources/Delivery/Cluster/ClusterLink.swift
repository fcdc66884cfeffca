import Clusters

/// The queue of a cluster, and this host's place in it.
package struct ClusterLink: Sendable {
  package let queue: any Queue
  package let bytes: any BlobStore
  let seal: ClusterSeal
  let host: HostID
  /// The host's name, for people.
  let name: String
  /// Whether it publishes; otherwise it only relays.
  let works: Bool
  /// A digest of the destinations in force.
  let routes: @Sendable () -> String
  let times: ClusterTimes

  /// The destination that requests wait for while the cluster cannot be reached.
  static let destination = "cluster"
  /// The destination that requests with photos wait for while their bytes cannot be stored.
  static let bytesDestination = "cluster.bytes"

  package init(
    queue: any Queue, bytes: any BlobStore, seal: ClusterSeal, host: HostID, name: String, works: Bool,
    routes: @escaping @Sendable () -> String, times: ClusterTimes = ClusterTimes()
  ) {
    self.queue = queue
    self.bytes = bytes
    self.seal = seal
    self.host = host
    self.name = name
    self.works = works
    self.routes = routes
    self.times = times
  }
}

/// The times of a cluster, the same on all hosts.
package struct ClusterTimes: Sendable {
  /// A host is dead when its beat has not changed for so long, by the clock of the observer.
  package var lease = Duration.seconds(8)
  /// A host stops publishing so long before others take it for dead.
  package var margin = Duration.seconds(1)
  /// The pause between two beats, and between two looks at partitions.
  package var beat = Duration.milliseconds(1300)
  /// The pause between two searches for requests that the cluster has lost, and the age of those.
  package var search = Duration.seconds(60)
  /// How long an append whose answer was lost may still arrive.
  package var memory = Duration.seconds(Partition.memory)

  package init() {}
}
