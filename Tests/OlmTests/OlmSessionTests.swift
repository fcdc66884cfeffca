import Digests
import Foundation
import Testing

@testable import Olm

@Suite struct OlmSessionTests {
  private let identity: Curve25519KeyPair

  init() throws { identity = try Curve25519KeyPair() }

  @Test("vodozemac accepts our session, with a one-time or a fallback key, and both talk on", arguments: [false, true])
  func weOpen(fallback: Bool) async throws {
    let peer = try Peer()
    let theirs = try await peer.keys(fallback: fallback)
    var ours = try OlmSession(from: identity, to: theirs.identity, oneTimeKey: theirs.oneTime)
    let first = try ours.encrypt(Array("one".utf8))
    let accepted = try await peer.ask(
      "accept", ["identity": identity.publicKey.base64, "message": first.parts.bytes.unpaddedBase64])
    #expect(text(try decoded(accepted["plain"])) == "one" && accepted["session"] == ours.id)
    #expect(first.parts.type == "0")
    let second = try ours.encrypt(Array("two".utf8))
    #expect(second.parts.type == "0")
    #expect(try await peer.decrypt(second, in: ours.id) == "two")
    try await talk(&ours, peer)
  }

  @Test("we accept vodozemac's session, and both talk on") func theyOpen() async throws {
    let (peer, oneTime) = (try Peer(), try Curve25519KeyPair())
    let theirs = try await peer.keys()
    let id = try found(
      try await peer.ask(
        "open", ["identity": identity.publicKey.base64, "oneTime": oneTime.publicKey.base64])["session"])
    let first = try await peer.encrypt("one", in: id)
    let message = try OlmPreKeyMessage(first.message)
    #expect(message.keys.identityKey == theirs.identity && message.keys.oneTimeKey == oneTime.publicKey)
    var (ours, plain) = try OlmSession.accept(message, as: identity, oneTimeKey: oneTime)
    #expect(text(plain) == "one" && ours.id == id && first.type == "0")
    let second = try await peer.encrypt("two", in: id)
    #expect(try ours.decrypt(second) == "two")
    #expect(throws: OlmError.usedKey) { try ours.decrypt(second) }
    try await talk(&ours, peer)
  }

  /// Twenty turns of each side, some with overtaken messages, the session stored in between.
  private func talk(_ ours: inout OlmSession, _ peer: Peer) async throws {
    for turn in 0..<20 {
      let sent = try (0...turn % 3).map { try ours.encrypt(Array("ours \(turn) \($0)".utf8)) }
      for (number, message) in sent.enumerated().reversed() {
        #expect(try await peer.decrypt(message, in: ours.id) == "ours \(turn) \(number)")
      }
      ours = try ours.stored()
      var received: [(type: String, message: [UInt8])] = []
      for number in 0...turn % 4 { received.append(try await peer.encrypt("theirs \(turn) \(number)", in: ours.id)) }
      for (number, message) in received.enumerated().reversed() {
        #expect(try ours.decrypt(message) == "theirs \(turn) \(number)")
        ours = try ours.stored()
        #expect(throws: OlmError.usedKey) { try ours.decrypt(message) }
      }
    }
  }

  /// Two sessions of ours, which have met.
  private func met() throws -> (opener: OlmSession, accepter: OlmSession) {
    let (other, oneTime) = (try Curve25519KeyPair(), try Curve25519KeyPair())
    var opener = try OlmSession(from: other, to: identity.publicKey, oneTimeKey: oneTime.publicKey)
    let first = try OlmPreKeyMessage(opener.encrypt([0]).parts.bytes)
    let accepter = try OlmSession.accept(first, as: identity, oneTimeKey: oneTime).session
    return (opener, accepter)
  }

  @Test("every altered byte is refused and leaves the session as it was") func altered() throws {
    var (opener, accepter) = try met()
    let reply = try accepter.encrypt(Array("reply".utf8)).parts.bytes
    for place in reply.indices {
      var altered = reply
      altered[place] ^= 1
      #expect(throws: OlmError.self) { try opener.decrypt(OlmMessage(altered)) }
    }
    for length in reply.indices {
      #expect(throws: OlmError.self) { try opener.decrypt(OlmMessage(Array(reply[..<length]))) }
    }
    #expect(text(try opener.decrypt(OlmMessage(reply))) == "reply")
  }

  @Test("a first message for another device or another one-time key opens nothing") func others() throws {
    let (other, oneTime) = (try Curve25519KeyPair(), try Curve25519KeyPair())
    var opener = try OlmSession(from: other, to: identity.publicKey, oneTimeKey: oneTime.publicKey)
    let first = try OlmPreKeyMessage(opener.encrypt([0]).parts.bytes)
    #expect(throws: OlmError.badMAC) { try OlmSession.accept(first, as: other, oneTimeKey: oneTime) }
    #expect(throws: OlmError.otherSession) {
      try OlmSession.accept(first, as: identity, oneTimeKey: Curve25519KeyPair())
    }
  }

  @Test("keys of overtaken messages are bounded, and one message skips at most two thousand") func bounded() throws {
    var (opener, accepter) = try met()
    var messages = try (0..<100).map { OlmPreKeyMessageBytes(number: $0, bytes: try opener.encrypt([$0]).parts.bytes) }
    let last = messages.removeLast()
    #expect(try accepter.decrypt(OlmPreKeyMessage(last.bytes).message) == [last.number])
    for message in messages {
      let isKept = message.number >= 99 - UInt8(OlmReceivingChain.mostSkippedKeys)
      let plain = try? accepter.decrypt(OlmPreKeyMessage(message.bytes).message)
      #expect(plain == (isKept ? [message.number] : nil))
    }
    for _ in 0..<2000 { _ = try opener.encrypt([]) }
    let reachable = try OlmPreKeyMessage(opener.encrypt([1]).parts.bytes).message
    let tooFar = try OlmPreKeyMessage(opener.encrypt([2]).parts.bytes).message
    #expect(throws: OlmError.tooFarAhead) { try accepter.decrypt(tooFar) }
    #expect(try accepter.decrypt(reachable) == [1])
    #expect(try accepter.decrypt(tooFar) == [2])
    #expect(try JSONEncoder().encode(accepter).count < 5000)
  }

  private struct OlmPreKeyMessageBytes {
    let number: UInt8
    let bytes: [UInt8]
  }

  @Test("only the newest chains are kept for late messages") func chains() throws {
    var (opener, accepter) = try met()
    var late: [OlmSession.Encrypted] = []
    for _ in 0..<7 {
      late.append(try opener.encrypt(Array("late".utf8)))
      _ = try accepter.decrypt(read(opener.encrypt([])))
      _ = try opener.decrypt(read(accepter.encrypt([])))
    }
    let opened = late.map { message in (try? accepter.decrypt(read(message))).map(text) }
    #expect(opened == [nil, nil] + [String?](repeating: "late", count: 5))
  }

  /// The message within, whatever its type.
  private func read(_ message: OlmSession.Encrypted) throws -> OlmMessage {
    switch message {
    case .preKey(let bytes): try OlmPreKeyMessage(bytes).message
    case .normal(let bytes): try OlmMessage(bytes)
    }
  }

  @Test("a ratchet key that answers nothing of ours is refused") func unasked() throws {
    var (opener, accepter) = try met()
    let reply = try read(accepter.encrypt([1]))
    _ = try opener.decrypt(reply)
    let (_, stranger) = try met()
    var strange = stranger
    #expect(throws: OlmError.unknownRatchet) { try opener.decrypt(read(strange.encrypt([2]))) }
  }

  @Test("a stored session opens the answer to what it sent, and encrypts again after it") func answered() throws {
    var (opener, accepter) = try met()
    opener = try opener.stored()
    #expect(!opener.canEncrypt)
    #expect(throws: OlmError.exhausted) { try opener.encrypt([1]) }
    #expect(try opener.decrypt(read(accepter.encrypt([2]))) == [2])
    opener = try opener.stored()
    #expect(opener.canEncrypt)
    #expect(try accepter.decrypt(read(opener.encrypt([3]))) == [3])
    opener = try opener.stored()
    #expect(try opener.decrypt(read(accepter.encrypt([4]))) == [4])
  }

  @Test("a stored session goes on with the chain in memory, until the ratchet has gone on") func resumed() throws {
    var (opener, accepter) = try met()
    var again = try opener.stored()
    again.resume(opener)
    #expect(again.canEncrypt)
    #expect(try accepter.decrypt(read(again.encrypt([1]))) == [1])
    #expect(try opener.decrypt(read(accepter.encrypt([2]))) == [2])
    let former = again
    again = try opener.stored()
    _ = try again.encrypt([3])
    again = try again.stored()
    again.resume(former)
    #expect(!again.canEncrypt, "the chain belongs to a former ratchet key")
  }

  @Test("what is stored does not change with the messages of a turn, so it cannot open them") func unwritten() throws {
    var (_, accepter) = try met()
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let before = try encoder.encode(accepter)
    _ = try accepter.encrypt([1])
    let first = try encoder.encode(accepter)
    _ = try accepter.encrypt([2])
    #expect(try encoder.encode(accepter) == first && first != before)
  }
}
