import Digests
import Foundation
import Testing

@testable import Olm

@Suite struct KeyTests {
  private let agreement = Curve25519PublicKey(bytes: [UInt8](repeating: 0, count: 32))

  private func secret(_ hex: String) throws -> SecretBytes { SecretBytes(try found([UInt8](hex: hex))) }

  @Test("a private key has the public key of RFC 7748") func curve() throws {
    let pair = try Curve25519KeyPair(privateKey: SecretBytes([9] + [UInt8](repeating: 0, count: 31)))
    #expect(pair.publicKey.bytes.hex == "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079")
  }

  @Test("a seed has the public key and the signature of RFC 8032") func signature() throws {
    let pair = try Ed25519KeyPair(seed: secret("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    #expect(pair.publicKey.bytes.hex == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    let signature = try pair.sign([])
    #expect(
      signature.hex
        == "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    #expect(pair.publicKey.isSignature(signature, of: []))
    #expect(!pair.publicKey.isSignature(signature, of: [0]))
    #expect(!pair.publicKey.isSignature(signature.dropLast(), of: []))
    #expect(!pair.publicKey.isSignature([UInt8](), of: []))
  }

  @Test("vodozemac verifies our signatures, and we its") func peer() async throws {
    let (peer, pair, message) = (try Peer(), try Ed25519KeyPair(), Array(#"{"one":1}"#.utf8))
    let theirs = try await peer.keys()
    _ = try await peer.ask(
      "verify",
      [
        "key": pair.publicKey.base64, "message": message.unpaddedBase64,
        "signature": pair.sign(message).unpaddedBase64,
      ])
    let signature = try await peer.bytes("sign", ["message": message.unpaddedBase64], "signature")
    #expect(theirs.signing.isSignature(signature, of: message))
    #expect(!pair.publicKey.isSignature(signature, of: message))
  }

  @Test("keys of another length and public keys of zeros are refused") func refused() throws {
    for count in [0, 31, 33] {
      let bytes = [UInt8](repeating: 1, count: count)
      #expect(throws: OlmError.malformed) { try Ed25519KeyPair(seed: SecretBytes(bytes)) }
      #expect(throws: OlmError.malformed) { try Curve25519KeyPair(privateKey: SecretBytes(bytes)) }
      #expect(Curve25519PublicKey(bytes: bytes) == nil && Ed25519PublicKey(base64: bytes.unpaddedBase64) == nil)
    }
    let pair = try Curve25519KeyPair()
    #expect(throws: OlmError.weakKey) { try pair.agree(with: found(agreement)) }
    #expect(throws: OlmError.weakKey) {
      try OlmSession(from: pair, to: found(agreement), oneTimeKey: Curve25519KeyPair().publicKey)
    }
  }

  @Test("stored pairs are the same pairs, and no description shows their secrets") func stored() throws {
    let (curve, signing) = (try Curve25519KeyPair(), try Ed25519KeyPair())
    let curveAgain = try JSONDecoder().decode(Curve25519KeyPair.self, from: JSONEncoder().encode(curve))
    let signingAgain = try JSONDecoder().decode(Ed25519KeyPair.self, from: JSONEncoder().encode(signing))
    #expect(curveAgain.publicKey == curve.publicKey && curveAgain.privateKey.equals(curve.privateKey))
    #expect(signingAgain.publicKey == signing.publicKey && signingAgain.seed.equals(signing.seed))
    let shown = "\(curve) \(String(reflecting: signing)) \(try OutboundMegolmSession().sessionKey())"
    #expect(!shown.contains(curve.privateKey.bytes.unpaddedBase64) && shown.contains("(key material)"))
    var dumped = ""
    dump(signing, to: &dumped)
    let numbers = dumped.split { !$0.isNumber }.compactMap { UInt8($0) }
    #expect(!numbers.contains(signing.seed.bytes.prefix(4)))
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode(Curve25519KeyPair.self, from: Data(#""AAAA""#.utf8)) as Curve25519KeyPair
    }
  }
}
