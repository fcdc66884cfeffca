import Digests
import Foundation
import Matrix
import Messages
import Olm
import Testing

@testable import RoomKeys

@Suite struct OfferedKeysTests {
  private let ours: Ours
  private static let day: Int64 = 24 * 3600 * 1000

  init() throws { ours = try Ours() }

  @Test("keys are offered unchanged until the homeserver has taken them, also by the next process") func again()
    async throws
  {
    let first = try #require(try await ours.offer())
    let (oneTime, fallback) = try Ours.keys(first)
    #expect(oneTime.count == KeyFile.most && fallback.count == 1)
    #expect(try await ours.offer(count: 0)?.body == first.body)
    let next = try ours.again()
    #expect(
      try await next.offer(count: 40, needsFallback: false, for: ours.device, now: .now())?.body == first.body)
    try await next.confirm(first, now: .now())
    #expect(try await ours.offer(count: 50, needsFallback: false) == nil)
  }

  @Test("each key is signed by the device") func signed() async throws {
    let (oneTime, fallback) = try Ours.keys(try await ours.offer())
    for key in oneTime + fallback {
      let text = try #require(key["key"]?.text)
      let isFallback = key["fallback"] == .flag(true)
      let signed = isFallback ? #"{"fallback":true,"key":"\#(text)"}"# : #"{"key":"\#(text)"}"#
      let signature = try #require(key["signatures"]?["@me:example.org"]?["ed25519:DEVICE"]?.text)
      #expect(
        ours.device.signing.publicKey.isSignature(
          try #require([UInt8](base64: signature)), of: Array(signed.utf8)))
    }
    #expect(fallback.allSatisfy { $0["fallback"] == .flag(true) })
  }

  @Test("fewer than 25 left are refilled to 50, and more are left alone") func refill() async throws {
    try await ours.file.confirm(try #require(try await ours.offer()), now: .now())
    #expect(try await ours.offer(count: 25, needsFallback: false) == nil)
    let offer = try await ours.offer(count: 24, needsFallback: false)
    #expect(try Ours.keys(offer).oneTime.count == 26)
  }

  @Test("a replaced fallback key opens sessions for one more day") func fallback() async throws {
    let sender = try Sender("@bob:example.org")
    try await ours.meet(sender, fallback: true)
    try await ours.file.confirm(try #require(try await ours.offer()), now: Timestamp(milliseconds: 0))
    let second = try #require(try await ours.offer(count: 50))
    #expect(try await ours.count("offered", "replacedAt IS NOT NULL") == 0, "not before it is taken")
    try await ours.file.confirm(second, now: Timestamp(milliseconds: 5))
    #expect(try await ours.count("offered", "isFallback AND replacedAt = 5") == 1)
    _ = try await ours.offer(count: 50, needsFallback: false, at: Self.day)
    #expect(try await ours.count("offered", "isFallback") == 2)
    _ = try await ours.offer(count: 50, needsFallback: false, at: Self.day + 6)
    #expect(try await ours.count("offered", "isFallback") == 1)
    #expect(try await ours.take(sender.toDevice(ours.device, sender.roomKey(in: Ours.room))) == [])
    #expect(try await ours.count("roomKeys") == 0)
  }

  @Test("keys of a former login are neither offered nor kept") func otherDevice() async throws {
    let first = try #require(try await ours.offer())
    let other = OwnDevice(
      user: ours.device.user, id: "OTHER", identity: ours.device.identity, signing: ours.device.signing)
    let offer = try #require(
      try await ours.file.offer(count: 0, needsFallback: true, for: other, now: .now()))
    #expect(Set(offer.ids).isDisjoint(with: first.ids))
    #expect(try await ours.count("offered", "device <> 'OTHER'") == 0)
  }
}
