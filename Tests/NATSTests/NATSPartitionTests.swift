import Clusters
import TestSupport
import Testing

@testable import NATS

@Suite(.enabled(if: NATSServers.isInstalled), .timeLimit(.minutes(5))) struct NATSPartitionTests {
  @Test func aReadThatFailsKeepsWhatCameBefore() async throws {
    let servers = try Cluster.shared().servers
    let connector = Connector(
      NATSOptions(servers: servers.addresses.compactMap(NATSAddress.init), token: servers.token, name: "test"))
    let stream = try await connector.jetStream()
    let (id, consumer) = (record(), ConsumerName(host: host()))
    let owned = NATSPartition(try #require(Partition(10)), consumer, connector, inherited: 0)
    // The server moves the consumer, and nothing answers whether it is still there.
    await stream.connection.close()
    let delivered = Reply(
      subject: "ps.q.10.\(id)", reply: "$JS.ACK.PS_Q10.\(consumer.text).1.7.1.0.0", bytes: [1], status: 0,
      description: nil, origin: nil)
    let moved = Reply(
      subject: "_INBOX.x", reply: nil, bytes: [], status: 409, description: "Leadership Change", origin: nil)
    // This status may come before the messages of its batch, and asks for no look at the consumer.
    let completed = Reply(
      subject: "_INBOX.x", reply: nil, bytes: [], status: 409, description: "Batch Completed", origin: nil)
    try await owned.receive([completed], stream)
    await #expect(throws: JetStreamFault.self) { try await owned.receive([delivered, moved], stream) }
    #expect(try await owned.read(limit: 10) == [StoredRecord(position: 7, id: id, record: [1])])
    await connector.close()
  }

  @Test func readingInPiecesKeepsTheConsumer() async throws {
    let queue = try Cluster.shared().queue()
    let partition = try #require(Partition(11))
    for _ in 0..<120 { _ = try await queue.append([1], as: record(), to: partition) }
    let owned = try #require(try await queue.take(partition, for: host(), replacing: []))
    let stream = try await queue.connectedStream()
    let consumers = try await stream.consumers(of: StreamSettings.queue(partition).name)
    var count = 0
    while count < 120 {
      for record in try await owned.read(limit: 10) {
        try await owned.finish(record.position)
        count += 1
      }
    }
    #expect(try await stream.consumers(of: StreamSettings.queue(partition).name) == consumers)
    await owned.release()
    await queue.close()
  }
}
