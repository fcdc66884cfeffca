import Testing

@testable import Networks

struct RecoveryKeyTests {
  /// 0x8b 0x01, the bytes 1 to 32, and their parity, in base58.
  private let key = "EsT1 H3Wm yHnZ VYce KwM9 c6Gk nX71 3FkR Yz9x vary hjQh 5m7X"

  @Test func twelveGroupsAreTheKey() {
    #expect(SecretStorage.decode(key) == Array(1...32))
    #expect(SecretStorage.decode(key.filter { $0 != " " }) == Array(1...32))
  }

  @Test func anythingElseIsRefused() {
    let others = [
      "", " ", "0OIl", String(key.dropLast()), key + "1", String(key.reversed()), String(repeating: "z", count: 1000),
    ]
    for text in others { #expect(SecretStorage.decode(text) == nil) }
  }
}
