import Digests
import Testing

/// The vectors of RFC 4231: keys shorter and longer than SHA-256's block.
@Suite struct HMACTests {
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0b, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func aCodeIsThatOfTheStandardEachTime(key: [UInt8], message: String, code: String) {
    let hmac = HMACSHA256(key: key)
    for _ in 0..<2 { #expect(hmac.code(of: Array(message.utf8)).hex == code) }
  }

  @Test func nothingAtAllHasACodeToo() {
    #expect(
      HMACSHA256(key: []).code(of: []).hex == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }
}
