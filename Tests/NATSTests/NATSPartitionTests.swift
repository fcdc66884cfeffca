import Clusters
import TestSupport
import Testing

@testable import NATS

@Suite(.enabled(if: NATSServers.isInstalled), .timeLimit(.minutes(5))) struct NATSPartitionTests {
  @Test func aReadThatFailsKeepsWhatCameBefore() async throws {
    let (connector, stream) = try await connected()
    let (id, consumer) = (record(), ConsumerName(host: host()))
    let owned = NATSPartition(try #require(Partition(10)), consumer, connector, inherited: 0)
    // The server moves the consumer, and nothing answers whether it is still there.
    await stream.connection.close()
    let delivered = Reply(
      subject: "ps.q.10.\(id)", reply: "$JS.ACK.PS_Q10.\(consumer.text).1.7.1.0.0", bytes: [1], status: 0,
      description: nil, origin: nil)
    await #expect(throws: JetStreamFault.self) {
      try await owned.receive([delivered, status("Leadership Change")], stream)
    }
    #expect(try await owned.read(limit: 10) == [StoredRecord(position: 7, id: id, record: [1])])
    await connector.close()
  }

  @Test func aStatusThatOvertakesItsMessagesAsksForNoLookAtTheConsumer() async throws {
    let (connector, stream) = try await connected()
    let owned = NATSPartition(try #require(Partition(12)), ConsumerName(host: host()), connector, inherited: 0)
    // A look would throw.
    await stream.connection.close()
    try await owned.receive([status("Batch Completed")], stream)
    await connector.close()
  }

  @Test func aMessageThatDoesNotArriveIsReadFromAnotherConsumer() async throws {
    let queue = try Cluster.shared().queue()
    let partition = try #require(Partition(13))
    let id = record()
    _ = try await queue.append([1], as: id, to: partition)
    let (connector, stream) = try await connected()
    let consumer = ConsumerName(host: host())
    let name = StreamSettings.queue(partition).name
    #expect(try await stream.createConsumer(consumer.text, of: name))
    let owned = NATSPartition(partition, consumer, connector, inherited: 0)
    // Somebody else gets the message.
    stream.connection.open(mailbox: "elsewhere")
    stream.connection.ask("$JS.API.CONSUMER.MSG.NEXT.\(name).\(consumer.text)", Array("1".utf8), to: "elsewhere")
    while try await stream.delivered(by: consumer.text, of: name) == 0 {}
    try await owned.receive([status("Leadership Change")], stream)
    #expect(try await stream.consumers(of: name) == [consumer.text])
    // A new leader of the consumer may still answer that it has delivered nothing.
    repeat {
      try await owned.receive([status("Leadership Change")], stream)
    } while try await stream.consumers(of: name) == [consumer.text]
    #expect(try await owned.all(1).map(\.id) == [id])
    await owned.release()
    await connector.close()
    await queue.close()
  }

  private func status(_ description: String) -> Reply {
    Reply(subject: "_INBOX.x", reply: nil, bytes: [], status: 409, description: description, origin: nil)
  }

  private func connected() async throws -> (connector: Connector, stream: JetStream) {
    let servers = try Cluster.shared().servers
    let connector = Connector(
      NATSOptions(servers: servers.addresses.compactMap(NATSAddress.init), token: servers.token, name: "test"))
    return (connector, try await connector.jetStream())
  }

  @Test func readingInPiecesKeepsTheConsumer() async throws {
    let queue = try Cluster.shared().queue()
    let partition = try #require(Partition(11))
    for _ in 0..<120 { _ = try await queue.append([1], as: record(), to: partition) }
    let owned = try #require(try await queue.take(partition, for: host(), replacing: []))
    let stream = try await queue.ask(mayTakeEffect: false) { $0 }
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
