import Digests
import Testing

@testable import Seals

@Suite struct InflationTests {
  @Test(arguments: [
    "cb48cdc9c95748cecf2d284a2d2e4e4d5188f00d090000",
    "789ccb48cdc9c95748cecf2d284a2d2e4e4d5188f00d090000599907d3",
    "1f8b0800000000000203cb48cdc9c95748cecf2d284a2d2e4e4d5188f00d090000f533fd0715000000",
  ])
  func deflateIsReadWithItsFrameAndWithout(_ hex: String) throws {
    let packed = try #require([UInt8](hex: hex))
    #expect(String(decoding: try Inflation.inflated(packed), as: UTF8.self) == "hello compressed XMTP")
  }

  @Test func truncatedDataIsRefused() throws {
    let packed = try #require([UInt8](hex: "789ccb48cdc9c95748cecf2d284a2d2e4e4d5188f00d090000599907d3"))
    for count in 0..<packed.count {
      #expect(throws: SealError.compressed) { try Inflation.inflated(Array(packed.prefix(count))) }
    }
  }

  @Test func moreThanTheLimitIsNeverMade() throws {
    let packed = try #require([UInt8](hex: "789ccb48cdc9c95748cecf2d284a2d2e4e4d5188f00d090000599907d3"))
    #expect(try Inflation.inflated(packed, limit: 21).count == 21)
    #expect(throws: SealError.tooLarge) { try Inflation.inflated(packed, limit: 20) }
  }
}
