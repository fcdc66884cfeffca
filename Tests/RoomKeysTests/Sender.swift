import Digests
import DurableFiles
import Foundation
import GRDB
import Matrix
import Messages
import Olm
import Synchronization
import TestSupport

@testable import RoomKeys

/// A device that sends us keys and messages.
final class Sender {
  let user: String
  let identity: Curve25519KeyPair
  let signing: Ed25519KeyPair
  /// Of the key that our device claims next.
  private(set) var oneTime: Curve25519KeyPair
  var olm: OlmSession?
  var megolm: OutboundMegolmSession

  init(_ user: String) throws {
    self.user = user
    identity = try Curve25519KeyPair()
    signing = try Ed25519KeyPair()
    oneTime = try Curve25519KeyPair()
    megolm = try OutboundMegolmSession()
  }

  /// A message to the device, as `/sync` has it.
  func toDevice(
    _ device: OwnDevice, _ content: [String: JSONValue], type: String = "m.room_key", sender: String? = nil,
    recipient: String? = nil, signing fingerprint: Ed25519PublicKey? = nil
  ) throws -> JSONValue {
    let payload = JSONValue.object([
      "type": .text(type), "content": .object(content), "sender": .text(user),
      "recipient": .text(recipient ?? device.user),
      "recipient_keys": .object(["ed25519": .text(device.signing.publicKey.base64)]),
      "keys": .object(["ed25519": .text((fingerprint ?? signing.publicKey).base64)]),
    ])
    guard let message = try olm?.encrypt(try json(payload)) else { throw Missing() }
    return toDevice(device, message, sender: sender)
  }

  func toDevice(_ device: OwnDevice, _ message: OlmSession.Encrypted, sender: String? = nil) -> JSONValue {
    let (type, bytes): (Int64, [UInt8]) =
      switch message {
      case .preKey(let bytes): (0, bytes)
      case .normal(let bytes): (1, bytes)
      }
    return .object([
      "type": .text("m.room.encrypted"), "sender": .text(sender ?? user),
      "content": .object([
        "algorithm": .text("m.olm.v1.curve25519-aes-sha2"), "sender_key": .text(identity.publicKey.base64),
        "ciphertext": .object([
          device.identity.publicKey.base64: .object(["type": .whole(type), "body": .text(bytes.unpaddedBase64)])
        ]),
      ]),
    ])
  }

  /// Opens a message of our device, and goes on in its session.
  func read(_ message: EncryptedMessage?) throws -> String {
    switch message?.message {
    case .preKey(let bytes):
      let first = try OlmPreKeyMessage(bytes)
      if let plain = try? olm?.decrypt(first.message) { return String(decoding: plain, as: UTF8.self) }
      let (session, plain) = try OlmSession.accept(first, as: identity, oneTimeKey: oneTime)
      oneTime = try Curve25519KeyPair()
      olm = session
      return String(decoding: plain, as: UTF8.self)
    case .normal(let bytes):
      guard let plain = try olm?.decrypt(OlmMessage(bytes)) else { throw Missing() }
      return String(decoding: plain, as: UTF8.self)
    case nil: throw Missing()
    }
  }

  func roomKey(in room: String, session: String? = nil) throws -> [String: JSONValue] {
    [
      "algorithm": .text("m.megolm.v1.aes-sha2"), "room_id": .text(room), "session_id": .text(session ?? megolm.id),
      "session_key": .text(try megolm.sessionKey().bytes.unpaddedBase64),
    ]
  }

  /// An event of the timeline.
  func event(_ id: String, in room: String, inner: String? = nil, as user: String? = nil) throws -> JSONValue {
    let payload = JSONValue.object([
      "type": .text("m.room.message"), "room_id": .text(inner ?? room),
      "content": .object(["msgtype": .text("m.text"), "body": .text(id)]),
    ])
    return encrypted(id, try megolm.encrypt(try json(payload)), as: user)
  }

  func encrypted(_ id: String, _ bytes: [UInt8], as user: String? = nil) -> JSONValue {
    .object([
      "type": .text("m.room.encrypted"), "event_id": .text(id), "sender": .text(user ?? self.user),
      "content": .object([
        "algorithm": .text("m.megolm.v1.aes-sha2"), "session_id": .text(megolm.id),
        "ciphertext": .text(bytes.unpaddedBase64),
      ]),
    ])
  }
}

/// The devices that homeservers show.
struct Shown: SenderDevices {
  var all: [String: Ed25519PublicKey] = [:]
  /// Users whose homeserver's answer is unusable.
  var unusable: Set<String> = []

  init(_ senders: Sender...) {
    for sender in senders { all["\(sender.user) \(sender.identity.publicKey)"] = sender.signing.publicKey }
  }

  func prepare(_ users: Set<String>) async {}

  func fingerprint(
    of identityKey: Curve25519PublicKey, user: String
  ) async throws(DeliveryError) -> Ed25519PublicKey? {
    if unusable.contains(user) { throw DeliveryError(.network, "the answer is too large") }
    return all["\(user) \(identityKey)"]
  }
}

/// Our own side, with its file.
struct Ours {
  let scratch: TemporaryDirectory
  let device: OwnDevice
  private(set) var file: KeyFile
  private let met = Turns()
  static let room = "!room:example.org"

  init() throws {
    scratch = try TemporaryDirectory()
    device = OwnDevice(
      user: "@me:example.org", id: "DEVICE", identity: try Curve25519KeyPair(), signing: try Ed25519KeyPair())
    file = try KeyFile(in: Directory(path: scratch.path))
  }

  /// As after a restart.
  func again() throws -> KeyFile { try KeyFile(in: Directory(path: scratch.path)) }

  func restarted() throws -> Ours {
    var copy = self
    copy.file = try again()
    return copy
  }

  /// Encrypts a text for a device, over a new session if one is needed.
  func encrypt(_ text: String, to sender: Sender, mayOpen: Bool = true) async throws -> EncryptedMessage? {
    let key = sender.identity.publicKey
    var opened: [Curve25519PublicKey: OlmSession] = [:]
    if mayOpen, try await isUnreachable(sender) {
      opened[key] = try OlmSession(from: device.identity, to: key, oneTimeKey: sender.oneTime.publicKey)
    }
    return try await file.encrypt(
      [DeviceMessage(to: key, of: sender.user, Array(text.utf8))], opened: opened, from: device,
      now: Timestamp(milliseconds: 1)
    )[0]
  }

  /// Whether a session has to be opened with the device first.
  func isUnreachable(_ sender: Sender) async throws -> Bool {
    try await !file.unreachable([sender.identity.publicKey], from: device).isEmpty
  }

  func offer(count: Int = 0, needsFallback: Bool = true, at now: Int64 = 0) async throws -> KeyOffer? {
    try await file.offer(
      count: count, needsFallback: needsFallback, for: device, now: Timestamp(milliseconds: now))
  }

  /// The keys of an offer: one-time, then fallback.
  static func keys(_ offer: KeyOffer?) throws -> (oneTime: [JSONValue], fallback: [JSONValue]) {
    let body = offer.flatMap { JSONValue(parsing: $0.body) }
    return (
      Array((body?["one_time_keys"]?.members ?? [:]).values), Array((body?["fallback_keys"]?.members ?? [:]).values)
    )
  }

  /// Opens a session as a device that claimed a key.
  func meet(_ sender: Sender, fallback: Bool = false) async throws {
    let offer = try await offer()
    let keys = try Self.keys(offer)
    let texts = (fallback ? keys.fallback : keys.oneTime).compactMap { $0["key"]?.text }.sorted()
    // Nobody gets the one-time key of another one.
    let number = fallback ? 0 : met.next()
    guard let text = texts.dropFirst(number).first,
      let key = Curve25519PublicKey(base64: text)
    else { throw Missing() }
    sender.olm = try OlmSession(from: sender.identity, to: device.identity.publicKey, oneTimeKey: key)
  }

  @discardableResult func take(_ events: JSONValue..., at now: Int64 = 1) async throws -> Set<String> {
    try await file.take(events, for: device, now: Timestamp(milliseconds: now)) { $0 == Self.room }
  }

  func open(_ events: [JSONValue], _ devices: Shown, at now: Int64 = 1) async throws -> [String] {
    let events = events.compactMap { EncryptedEvent($0, in: Self.room) }
    return try await file.open(events, devices: devices, now: Timestamp(milliseconds: now)).map(word)
  }

  /// The text of an opened event, or what became of it.
  func word(_ event: OpenedEvent) -> String {
    switch event {
    case .opened(let event): event["content"]?["body"]?.text ?? "no text"
    case .waits: "waits"
    case .refused(let refusal): refusal.description
    }
  }

  func count(_ table: String, _ condition: String = "TRUE") async throws -> Int {
    try await file.read { database in
      try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table) WHERE \(condition)") ?? 0
    }
  }
}

/// Counts from 0.
private final class Turns: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock { count in
      defer { count += 1 }
      return count
    }
  }
}

struct Missing: Error {}
