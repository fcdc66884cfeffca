import Digests
import HTTP
import Matrix
import Messages
import Olm
import Seals

/// Reads one secret of an account's Secret Storage with the account's recovery key. Source: the Matrix specification,
/// "Secrets", `m.secret_storage.v1.aes-hmac-sha2`.
struct SecretStorage {
  let server: MatrixServer
  let user: String

  /// The account's self-signing key.
  ///
  /// - Throws: `.configError` if the recovery key is not the one of the account's storage, or nothing is stored.
  func selfSigningKey(with recoveryKey: String) async throws(DeliveryError) -> Ed25519KeyPair {
    guard let key = Self.decode(recoveryKey) else {
      throw DeliveryError(
        .configError,
        "the recovery key is not one: it has 12 groups of 4 letters and digits, and one of them differs; copy it again")
    }
    guard let id = try await data("m.secret_storage.default_key")["key"]?.text,
      let sealed = try await data("m.cross_signing.self_signing")["encrypted"]?[id]
    else {
      throw DeliveryError(
        .configError,
        "\(server.name) keeps no self-signing key of \(user) in Secret Storage; set up recovery in a chat app")
    }
    let facts = try await data("m.secret_storage.key.\(id)")
    guard try Self.isRight(key, facts) else {
      throw DeliveryError(
        .configError, "the recovery key is not that of \(user); set the one that the account's chat app shows")
    }
    guard let text = try Self.open(sealed, with: key, name: "m.cross_signing.self_signing"),
      let seed = [UInt8](base64: text), let pair = try? Ed25519KeyPair(seed: SecretBytes(seed))
    else {
      throw DeliveryError(
        .configError,
        "the self-signing key of \(user) in Secret Storage is damaged; set up recovery again in a chat app")
    }
    return pair
  }

  private func data(_ type: String) async throws(DeliveryError) -> JSONValue {
    let answer = try await server.ask(
      .get, "/_matrix/client/v3/user/\(user.percentEncoded())/account_data/\(type.percentEncoded())")
    if answer.status == 404 { return .object([:]) }
    guard answer.isSuccess, let json = answer.json else { throw server.faults.error(answer) }
    return json
  }

  /// Whether the key encrypts zeros as the storage's description has it. Without a description nothing is compared; the
  /// code of the secret itself decides.
  private static func isRight(_ key: [UInt8], _ facts: JSONValue) throws(DeliveryError) -> Bool {
    guard let iv = facts["iv"]?.text.flatMap({ [UInt8](base64: $0) }), iv.count == 16,
      let mac = facts["mac"]?.text.flatMap({ [UInt8](base64: $0) })
    else { return true }
    let keys = Derivation.hkdf(key, info: "", count: 64)
    let zeros = try AES256.ctr.encrypt([UInt8](repeating: 0, count: 32), key: Array(keys[..<32]), vector: iv)
    return SecretBytes(HMACSHA256(key: Array(keys[32...])).code(of: zeros)).equals(SecretBytes(mac))
  }

  private static func open(_ sealed: JSONValue, with key: [UInt8], name: String) throws(DeliveryError) -> String? {
    guard let iv = sealed["iv"]?.text.flatMap({ [UInt8](base64: $0) }), iv.count == 16,
      let cipher = sealed["ciphertext"]?.text.flatMap({ [UInt8](base64: $0) }),
      let mac = sealed["mac"]?.text.flatMap({ [UInt8](base64: $0) })
    else { return nil }
    let keys = Derivation.hkdf(key, info: name, count: 64)
    guard SecretBytes(HMACSHA256(key: Array(keys[32...])).code(of: cipher)).equals(SecretBytes(mac)) else { return nil }
    return String(decoding: try AES256.ctr.encrypt(cipher, key: Array(keys[..<32]), vector: iv), as: UTF8.self)
  }

  private static let letters = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)

  /// The 32 bytes of a recovery key: base58 of two fixed bytes, the key, and a parity byte. nil for anything else.
  static func decode(_ text: String) -> [UInt8]? {
    let digits = text.utf8.filter { $0 != UInt8(ascii: " ") }
    guard digits.count <= 64 else { return nil }
    var bytes = [UInt8]()
    for digit in digits {
      guard var carry = letters.firstIndex(of: digit) else { return nil }
      for index in bytes.indices {
        carry += Int(bytes[index]) * 58
        bytes[index] = UInt8(carry & 0xff)
        carry >>= 8
      }
      if carry > 0 { bytes.append(UInt8(carry)) }
    }
    bytes.reverse()
    guard bytes.count == 35, bytes.starts(with: [0x8b, 0x01]), bytes.reduce(0, ^) == 0 else { return nil }
    return Array(bytes[2..<34])
  }
}
