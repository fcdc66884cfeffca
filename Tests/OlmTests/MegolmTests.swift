import Digests
import Testing

@testable import Olm

@Suite struct MegolmTests {
  /// Both sides of every place where a part of the ratchet turns over.
  static let places: [UInt32] = [
    0, 1, 2, 254, 255, 256, 257, 511, 512, 65_534, 65_535, 65_536, 65_537, 1 << 24 - 1, 1 << 24, 1 << 24 + 1,
    0x0102_0304, 0xffff_fffe,
  ]

  private func session(at index: UInt32) throws -> (outbound: OutboundMegolmSession, key: MegolmSessionKey) {
    let (ratchet, signing) = (try MegolmRatchet(), try Ed25519KeyPair())
    var later = ratchet
    try later.advance(to: index)
    return (
      OutboundMegolmSession(ratchet: later, signingKey: signing),
      MegolmSessionKey(ratchet: ratchet, signingKey: signing.publicKey)
    )
  }

  @Test("vodozemac opens our messages wherever the ratchet turns over", arguments: places)
  func theyOpenOurs(index: UInt32) async throws {
    let peer = try Peer()
    var (outbound, key) = try session(at: index)
    let id = try await peer.ask("group-import", ["key": key.exported.bytes.unpaddedBase64])["session"]
    #expect(id == outbound.id)
    let shared = try outbound.sessionKey().bytes
    for number in index...(index + 1 < .max ? index + 1 : index) {
      let message = try outbound.encrypt(Array("message \(number)".utf8))
      let opened = try await peer.ask("group-decrypt", ["session": outbound.id, "message": message.unpaddedBase64])
      #expect(text(try decoded(opened["plain"])) == "message \(number)" && opened["index"] == "\(number)")
    }
    // The signed key that a late joiner gets is the ratchet at its place.
    let late = try MegolmSessionKey(shared: shared)
    let exported = try await peer.bytes("group-export", ["session": outbound.id, "index": "\(index)"], "key")
    #expect(late.index == index && late.exported.bytes == exported)
    #expect(try key.export(at: index).exported.bytes == exported)
  }

  @Test("we open vodozemac's messages, in any order, and a late joiner opens the later ones") func weOpenTheirs()
    async throws
  {
    let peer = try Peer()
    let inbound = try MegolmSessionKey(shared: await peer.bytes("group-key", [:], "key"))
    var messages: [(index: UInt32, message: MegolmMessage)] = []
    var late: MegolmSessionKey?
    for index: UInt32 in [0, 1, 255, 256, 257, 65_535, 65_536, 65_537] {
      if index == 257 {
        late = try MegolmSessionKey(shared: await peer.bytes("group-key", [:], "key"))
      }
      let plain = Array("number \(index)".utf8).unpaddedBase64
      let bytes = try await peer.bytes("group-encrypt", ["index": "\(index)", "plain": plain], "message")
      messages.append((index, try MegolmMessage(bytes)))
    }
    for (index, message) in messages + messages.reversed() {
      #expect(message.index == index)
      #expect(text(try inbound.decrypt(message)) == "number \(index)")
    }
    let joined = try found(late)
    #expect(joined.index == 257 && joined.signingKey == inbound.signingKey)
    #expect(try joined.isSame(as: inbound.export(at: 0)) && inbound.isSame(as: joined.export(at: 65_536)))
    for (index, message) in messages {
      if index < 257 {
        #expect(throws: OlmError.unknownIndex(first: 257)) { try joined.decrypt(message) }
      } else {
        #expect(text(try joined.decrypt(message)) == "number \(index)")
      }
    }
  }

  @Test("a stored session opens what it opened before") func stored() throws {
    var (outbound, key) = try session(at: 300)
    let message = try MegolmMessage(outbound.encrypt(Array("text".utf8)))
    let again = try MegolmSessionKey(exported: key.exported.bytes)
    #expect(text(try again.decrypt(message)) == "text" && again.index == 0)
  }

  @Test("every altered byte of a message or key is refused") func altered() throws {
    var (outbound, _) = try session(at: 3)
    let key = try outbound.sessionKey().bytes
    let inbound = try MegolmSessionKey(shared: key)
    let message = try outbound.encrypt(Array("text".utf8))
    for place in message.indices {
      var altered = message
      altered[place] ^= 1
      #expect(throws: OlmError.self) { try inbound.decrypt(MegolmMessage(altered)) }
    }
    for place in key.indices {
      var altered = key
      altered[place] ^= 1
      #expect(throws: OlmError.self) { try MegolmSessionKey(shared: altered) }
    }
    for length in message.indices {
      #expect(throws: OlmError.self) { try inbound.decrypt(MegolmMessage(Array(message[..<length]))) }
    }
    #expect(text(try inbound.decrypt(MegolmMessage(message))) == "text")
  }

  @Test("a session of the same name with another ratchet is another session, and opens nothing") func impostor() throws
  {
    let signing = try Ed25519KeyPair()
    var outbound = OutboundMegolmSession(ratchet: try MegolmRatchet(), signingKey: signing)
    let key = try MegolmSessionKey(shared: outbound.sessionKey().bytes)
    let impostor = MegolmSessionKey(ratchet: try MegolmRatchet(), signingKey: signing.publicKey)
    #expect(!impostor.isSame(as: key) && impostor.isSame(as: impostor))
    let message = try MegolmMessage(outbound.encrypt([1]))
    #expect(throws: OlmError.badMAC) { try impostor.decrypt(message) }
  }

  @Test("the last message ends the session") func end() throws {
    var outbound = try session(at: .max - 1).outbound
    _ = try outbound.encrypt([])
    #expect(outbound.index == .max)
    #expect(throws: OlmError.exhausted) { try outbound.encrypt([]) }
  }
}
