import Messages
import Testing

@testable import Clusters

struct NamesTests {
  @Test(
    "only 32 lower-case hexadecimal characters are an id",
    arguments: ["", "0", "0123456789ABCDEF0123456789abcdef", "*"])
  func refusesOtherNames(text: String) {
    #expect(HostID(text) == nil)
    #expect(RecordID(text) == nil)
  }

  @Test("the same acceptance has the same record id, and another acceptance another one")
  func namesAcceptances() throws {
    let host = try #require(HostID("00000000000000000000000000000001"))
    func id(_ request: String, _ time: Int64) -> RecordID {
      RecordID(host: host, request: request, acceptedAt: Timestamp(milliseconds: time))
    }
    #expect(id("cat", 1) == id("cat", 1))
    #expect(id("cat", 1) != id("cat", 2))
    #expect(id("cat", 1) != id("dog", 1))
  }

  @Test("conversations are spread over all partitions, each always in the same one")
  func spreads() {
    let partitions = (0..<2000).map { Partition(of: ConversationID(unchecked: "c\($0)")) }
    #expect(Set(partitions) == Set(Partition.all))
    #expect(partitions == (0..<2000).map { Partition(of: ConversationID(unchecked: "c\($0)")) })
    #expect(Partition(Partition.count) == nil)
    #expect(Partition(-1) == nil)
  }
}
