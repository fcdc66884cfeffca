import FoundationEssentials

@testable import Olm

extension FuzzTarget {
  static let olm: [FuzzTarget] = [olmMessage, olmSession, megolmMessage, megolmKey]

  private static let fields = [
    "\u{03}\u{0A}\u{20}", "\u{03}\u{08}", "\u{10}", "\u{12}\u{20}", "\u{1A}\u{20}", "\u{22}",
  ]

  static func pair(_ byte: UInt8) -> Curve25519KeyPair? {
    try? Curve25519KeyPair(privateKey: SecretBytes([UInt8](repeating: byte, count: 32)))
  }

  static let olmMessage = FuzzTarget("olm-message", words: fields) { input throws(BrokenProperty) in
    guard case (var opener, let other, let oneTime)? = met() else { throw BrokenProperty(description: "no sessions") }
    let before = try written(opener)
    if let message = try? OlmMessage(input) {
      try hold((try? opener.decrypt(message)) == nil, "something was opened that nobody sent")
    }
    if let first = try? OlmPreKeyMessage(input) {
      try hold((try? opener.decrypt(first.message)) == nil, "something was opened that nobody sent")
      try hold(
        (try? OlmSession.accept(first, as: other, oneTimeKey: oneTime)) == nil, "a session was accepted with other keys"
      )
    }
    try hold(try written(opener) == before, "a refused message has changed the session")
    guard case .preKey(let sent)? = try? opener.encrypt(input), let first = try? OlmPreKeyMessage(sent),
      let accepted = try? OlmSession.accept(first, as: other, oneTimeKey: oneTime)
    else { throw BrokenProperty(description: "what was sent opens no session") }
    try hold(accepted.plain == input, "what was sent is not what was opened")
  }

  /// A session of ours with a device, and that device's keys.
  private static func met() -> (OlmSession, other: Curve25519KeyPair, oneTime: Curve25519KeyPair)? {
    guard let mine = pair(1), let other = pair(2), let oneTime = pair(3),
      let session = try? OlmSession(from: mine, to: other.publicKey, oneTimeKey: oneTime.publicKey)
    else { return nil }
    return (session, other, oneTime)
  }

  private static func written(_ session: OlmSession) throws(BrokenProperty) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do { return try encoder.encode(session) } catch { throw BrokenProperty(description: "a session cannot be written") }
  }

  /// A stored session, as a damaged file may have it.
  static let olmSession = FuzzTarget(
    "olm-session",
    words: [
      "keys", "identityKey", "baseKey", "oneTimeKey", "root", "turn", "ours", "theirs", "ratchet", "receiving", "chain",
      "key", "index", "skipped", "ratchetKey", "isUnanswered", "true", "4294967295", "[", "]", "{", "}", ",", "\"", ":",
    ]
  ) { input throws(BrokenProperty) in
    guard var session = try? JSONDecoder().decode(OlmSession.self, from: Data(input)) else { return }
    let before = try written(session)
    guard let again = try? JSONDecoder().decode(OlmSession.self, from: before) else {
      throw BrokenProperty(description: "a session that was read cannot be read again")
    }
    try hold(try written(again) == before, "written again, it is another session")
    _ = try? session.encrypt([1])
  }

  static let megolmMessage = FuzzTarget("megolm-message", words: fields) { input throws(BrokenProperty) in
    guard let signing = try? Ed25519KeyPair(seed: SecretBytes([UInt8](repeating: 4, count: 32))) else {
      throw BrokenProperty(description: "no key")
    }
    let ratchet = MegolmRatchet([UInt8](repeating: 5, count: MegolmRatchet.length)[...], at: 0)
    let inbound = MegolmSessionKey(ratchet: ratchet, signingKey: signing.publicKey)
    if let message = try? MegolmMessage(input) {
      try hold((try? inbound.decrypt(message)) == nil, "something was opened that nobody sent")
    }
    var outbound = OutboundMegolmSession(ratchet: ratchet, signingKey: signing)
    guard let sent = try? outbound.encrypt(input), let message = try? MegolmMessage(sent),
      let plain = try? inbound.decrypt(message)
    else { throw BrokenProperty(description: "what was sent cannot be opened") }
    try hold(plain == input, "what was sent is not what was opened")
  }

  static let megolmKey = FuzzTarget("megolm-key", words: ["\u{01}", "\u{02}"]) { input throws(BrokenProperty) in
    let shared = try? MegolmSessionKey(shared: input)
    guard let key = shared ?? (try? MegolmSessionKey(exported: input)) else { return }
    let again = try? MegolmSessionKey(exported: key.exported.bytes)
    try hold(again?.index == key.index && again?.signingKey == key.signingKey, "exported, it is another key")
    try hold(shared != nil || input == key.exported.bytes, "an exported key is not all of what was read")
    try hold(key.isSame(as: key), "it is not itself")
  }
}
