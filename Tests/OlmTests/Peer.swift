import Digests
import Foundation
import TestSupport

@testable import Olm

/// vodozemac, in a process of its own.
struct Peer: Sendable {
  struct Refused: Error { let reason: String }

  struct Keys {
    let identity: Curve25519PublicKey
    let signing: Ed25519PublicKey
    let oneTime: Curve25519PublicKey
  }

  private let dialogue: Dialogue

  init() throws { dialogue = try Dialogue("vodozemac_peer.py") }

  func ask(_ verb: String, _ members: [String: String] = [:]) async throws -> [String: String] {
    let answer = try await dialogue.order(verb, members)
    if let reason = answer["refused"] { throw Refused(reason: reason) }
    return answer
  }

  func bytes(_ verb: String, _ members: [String: String] = [:], _ member: String) async throws -> [UInt8] {
    try decoded(try await ask(verb, members)[member])
  }

  func keys(fallback: Bool = false) async throws -> Keys {
    let answer = try await ask("keys", fallback ? ["fallback": "yes"] : [:])
    return Keys(
      identity: try found(Curve25519PublicKey(base64: answer["curve25519"] ?? "")),
      signing: try found(Ed25519PublicKey(base64: answer["ed25519"] ?? "")),
      oneTime: try found(Curve25519PublicKey(base64: answer["oneTime"] ?? "")))
  }

  func decrypt(_ message: OlmSession.Encrypted, in session: String) async throws -> String {
    let (type, bytes) = message.parts
    return text(
      try await self.bytes(
        "decrypt", ["session": session, "type": type, "message": bytes.unpaddedBase64], "plain"))
  }

  func encrypt(_ plain: String, in session: String) async throws -> (type: String, message: [UInt8]) {
    let answer = try await ask("encrypt", ["session": session, "plain": Array(plain.utf8).unpaddedBase64])
    return (answer["type"] ?? "", try decoded(answer["message"]))
  }
}

extension OlmSession.Encrypted {
  /// As Matrix has them.
  var parts: (type: String, bytes: [UInt8]) {
    switch self {
    case .preKey(let bytes): ("0", bytes)
    case .normal(let bytes): ("1", bytes)
    }
  }
}

extension OlmSession {
  mutating func decrypt(_ message: (type: String, message: [UInt8])) throws -> String {
    text(
      message.type == "0"
        ? try decrypt(OlmPreKeyMessage(message.message).message) : try decrypt(OlmMessage(message.message)))
  }

  /// Written and read again, as between two runs of the program.
  func stored() throws -> OlmSession {
    try JSONDecoder().decode(OlmSession.self, from: JSONEncoder().encode(self))
  }
}

struct Missing: Error {}

func found<Value>(_ value: Value?) throws -> Value {
  guard let value else { throw Missing() }
  return value
}

func decoded(_ base64: String?) throws -> [UInt8] { try found(base64.flatMap { [UInt8](base64: $0) }) }
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
