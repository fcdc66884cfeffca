import Clusters
import NATS
import TestSupport
import Testing

@Suite(.enabled(if: NATSServers.isInstalled), .timeLimit(.minutes(5))) struct NATSTLSTests {
  @Test func serversAreTrustedByTheirAuthorityAndTheirName() async throws {
    let cluster = try Cluster(tls: true)
    let known = cluster.queue(authority: cluster.servers.authority)
    #expect(try await known.beats() == [])
    let unknown = cluster.queue()
    await expectRefusal { try await unknown.beats() }
    // The certificate is for localhost.
    let elsewhere = cluster.servers.addresses.map { $0.replacing("localhost", with: "127.0.0.1") }
    let misnamed = cluster.queue(elsewhere, authority: cluster.servers.authority)
    await expectRefusal { try await misnamed.beats() }
    for queue in [known, unknown, misnamed] { await queue.close() }
  }

  private func expectRefusal(_ call: () async throws -> [StoredBeat]) async {
    await #expect {
      try await call()
    } throws: { error in
      if case .refused(let sentence) = error as? QueueError { sentence.contains("certificate") } else { false }
    }
  }
}
