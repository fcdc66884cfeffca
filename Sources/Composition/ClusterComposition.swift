import Clusters
import Delivery
import Digests
import DurableFiles
import Glibc
import HTTP
import Messages
import NATS
import Seals
import Settings
import Spooling
import Stores

extension Settings {
  /// The cluster that the spool's host belongs to; nil without one. The servers are reached later, and libnats is loaded
  /// then.
  ///
  /// - Parameter settings: the current ones.
  func makeCluster(_ spool: Spooling.Spool, settings: @escaping @Sendable () -> Settings) throws -> ClusterLink? {
    guard cluster.isConfigured else { return nil }
    let queue = try makeQueue()
    return ClusterLink(
      queue: queue, bytes: try makeBytes() ?? queue, seal: ClusterSeal(secret: try clusterSecret()),
      host: try spool.hostID(), name: Self.hostName, works: cluster.work, routes: { settings().routesDigest })
  }

  /// The queue on the cluster's servers, which are reached by the first call.
  package func makeQueue() throws -> NATSQueue {
    NATSQueue(
      NATSOptions(
        servers: cluster.servers.compactMap { NATSAddress($0) },
        token: try cluster.token.source?.load().reveal(), authority: cluster.authority,
        name: "photospool on \(Self.hostName)"))
  }

  /// The store for bytes of relayed requests; nil if the servers keep them.
  func makeBytes() throws -> S3Blobs? {
    guard let name = cluster.bytes else { return nil }
    guard let type = stores.first(where: { $0.name == name })?.type as? S3StoreType else {
      throw Failure(.configuration, "`cluster.bytes` has to be the name of a store of type `\(S3StoreType.word)`")
    }
    return try DestinationFactory.naming("store \(name)") {
      try type.blobs(client: HTTPClient(http.client), limits: http.limits)
    }
  }

  /// The secret's bytes.
  package func clusterSecret() throws -> [UInt8] {
    let secret = Array(try cluster.secret.load().reveal().utf8)
    guard secret.count >= Self.shortestClusterSecret else {
      throw Failure(
        .configuration,
        "the cluster's secret has \(secret.count) characters and needs \(Self.shortestClusterSecret); make one with "
          + "`openssl rand -hex 32`, and give it to all hosts")
    }
    return secret
  }

  private static let shortestClusterSecret = 32

  /// A digest of the destinations. Hosts with different ones would publish a conversation in different places.
  package var routesDigest: String {
    let parts =
      networks.map { "network \($0.name) \(type(of: $0.type).word) \($0.store) \($0.seal.rawValue)" }
      + stores.map { "store \($0.name) \(type(of: $0.type).word)" }
      + routes.map { "route \($0.conversations) \($0.network) \($0.alias?.text ?? "")" }
      + (cluster.bytes.map { ["bytes \($0)"] } ?? [])
    return String(SHA256Digest(of: Array(parts.joined(separator: "\n").utf8)).hex.prefix(16))
  }

  /// The host's name, for people.
  private static var hostName: String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
    return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension Spool {
  /// The file of the host's id in `state/`.
  private static let hostFile = "spool-id"

  /// The host's id in clusters, drawn at the first call. Order of writes: the file, its directory.
  func hostID() throws -> HostID {
    if let bytes = try state.entry(Self.hostFile).map({ _ in try state.file(Self.hostFile).contents(limit: 64) }) {
      let text = String(decoding: bytes ?? [], as: UTF8.self).filter { !$0.isNewline }
      guard let host = HostID(text) else {
        throw Failure(
          .configuration,
          "\(state.path(of: Self.hostFile)) is damaged; restore it, or delete it once no relayed request waits")
      }
      return host
    }
    let text = try RandomBytes.make(16).hex
    guard let host = HostID(text) else { throw Failure(.configuration, "cannot draw a host id") }
    try state.write(Array("\(text)\n".utf8), as: Self.hostFile)
    try state.sync()
    return host
  }
}
