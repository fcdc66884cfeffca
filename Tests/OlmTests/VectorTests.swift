import Digests
import Testing

@testable import Olm

/// Fixed answers. Those of the first test were computed with Python's `cryptography` and opened by vodozemac 0.10, which
/// wrote the others.
@Suite struct VectorTests {
  @Test("a known ratchet and signing key give the known session key and messages") func ours() throws {
    let ratchet = MegolmRatchet([UInt8](0..<128)[...], at: 0)
    let signing = try Ed25519KeyPair(seed: SecretBytes([UInt8](repeating: 0x42, count: 32)))
    var outbound = OutboundMegolmSession(ratchet: ratchet, signingKey: signing)
    #expect(outbound.id == "IVL40Zt5HSRFMkLhXy6rbLfP+ntqXtMAl5YOBpiB2xI")
    #expect(
      SHA256Digest(of: try outbound.sessionKey().bytes).hex
        == "d296c7e39e074fcf4a59166a53df26e6286a315f273b333920c9a19bdadc4a13")
    #expect(
      try outbound.encrypt(Array("message 0".utf8)).unpaddedBase64
        == "AwgAEhAZ/1i9gIN/gdYkWktRXQp30x2D3njnXUEqNtzczQxl9R6m9g2+aYOA32OcULWeUomzVhctbColxmw97gINbuNlvhMPQ7kQGUNrZFU4qRCqgBc/kQn/4cgD"
    )
    var later = ratchet
    try later.advance(to: 0x0102_0304)
    #expect(SHA256Digest(of: later.bytes).hex == "62ab0ddbf887814e1f3062e0ebfe04ef1840959e12a4cd94c7f4cdf345bbde6d")
  }

  @Test("two messages of vodozemac open an Olm session") func olm() throws {
    let identity = try Curve25519KeyPair(privateKey: SecretBytes([UInt8](1...32)))
    let oneTime = try Curve25519KeyPair(privateKey: SecretBytes([UInt8](33...64)))
    let first =
      "AwogWGmv9FBUlzLLqu1eXfmzCm2jHLDldCutWtShp2jxpnsSILcoiLUZlH4G3nhCG32uuBQNy8Hh2RKNjTlLU/BZJ70vGiAObqJ7cIdtOICDsumEXGOuKNcYEbWQlwS+OUOYDTmkIiI/AwogNZbK3HrrG9vWucO4Vb1NA0XHb3OJSD4YaD+3eswIP3AQACIQSLSbC+B/0vsLaWjsv1bpEmSgtvK57uQu"
    let second =
      "AwogWGmv9FBUlzLLqu1eXfmzCm2jHLDldCutWtShp2jxpnsSILcoiLUZlH4G3nhCG32uuBQNy8Hh2RKNjTlLU/BZJ70vGiAObqJ7cIdtOICDsumEXGOuKNcYEbWQlwS+OUOYDTmkIiI/AwogNZbK3HrrG9vWucO4Vb1NA0XHb3OJSD4YaD+3eswIP3AQASIQ8N3u1ihNaIXWMu9ILVwmGX2It9AY7YKQ"
    var (session, plain) = try OlmSession.accept(
      OlmPreKeyMessage(decoded(first)), as: identity, oneTimeKey: oneTime)
    #expect(text(plain) == "first" && session.id == "kb2bjotyAoRIw/Pak8/iwrl+hRMewDaDscgqQdKH43c")
    #expect(text(try session.decrypt(OlmPreKeyMessage(decoded(second)).message)) == "second")
  }

  @Test("a session key of vodozemac opens its messages") func megolm() throws {
    let key =
      "AgAAAAAAzsgjP7dH1DHE8pb0VdWmdgZErcKpGUqQLpatAeNPl0fDHQzQGYdcBPEXBsB5wo/LJvHcGWb0iJkclK5GaQxQWG/vNsynEnoAe3XlSMBqqHKy4PtPZnQy2FH9+ZVochhZ274BhJ2e7NCte8tN1b9xFimkqq7ZGr5sDaCnvgaVnfRPw2q6PhI4AVelIuQwueyHj0e9RxJlGYo57e71mkEHJxh5xCaXOlPIe5SFhf9ll0c37W4fbAoLb6Osq7i8ZGo5aNKGrKAPSM77rzfC1+lb4uiGdP4+GI/FF6czU3ulCw"
    let session = try MegolmSessionKey(shared: decoded(key))
    #expect(session.signingKey.base64 == "9E/Daro+EjgBV6Ui5DC57IePR71HEmUZijnt7vWaQQc")
    let messages = [
      "message 0":
        "AwgAEhArKgy7A8LWANgWN1o0vh0dk417zJj+Cw+glBoGQWQN1fFcYzzMp3sJUE364GqwqRRDF/UJIPkes/Mw3ZkWHsOCdHxHocyrCOVyjrUj/2SJKSuzZjJKZ64P",
      "message 1":
        "AwgBEhBiNuHKnVfynEz0rcScYgw5dza4EtTTCE544xSorGHEC8vEF9nOo1KyWcf/BERSPUqoP9a5lPMOfm9rBVR10uZVFC1JYN3pPluwnD8vuRnPfpNoFV4eJqwH",
      "message 256":
        "AwiAAhIQUrOPFyX3vv1N4Q3vcSvFkKFhGK5z2fw9hmYh/nuBolR+niHg6bMFnS6dqNF153jczcSSvFNfQX2f1uyN39kL2pNyfnhHYm3n2gRq67e79Uo3Y+J3VyJ1DA",
    ]
    for (plain, message) in messages {
      #expect(text(try session.decrypt(MegolmMessage(decoded(message)))) == plain)
    }
  }
}
