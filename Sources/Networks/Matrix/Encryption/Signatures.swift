import Digests
import Matrix
import Olm

/// Signatures in JSON objects. Source: the Matrix specification, appendix "Signing JSON".
extension JSONValue {
  /// The bytes that a signature covers: the object without its signatures and its unsigned part.
  private var signedText: [UInt8]? {
    guard case .object(var members) = self else { return nil }
    members["signatures"] = nil
    members["unsigned"] = nil
    return JSONValue.object(members).canonical
  }

  /// The object with a signature added.
  ///
  /// - Parameter keyID: without the algorithm: a device's id, or a public key in base64.
  func signed(by pair: Ed25519KeyPair, of user: String, keyID: String) throws(OlmError) -> JSONValue {
    guard case .object(var members) = self, let text = signedText else { throw .malformed }
    var signatures = members["signatures"]?.members ?? [:]
    var own = signatures[user]?.members ?? [:]
    own["ed25519:\(keyID)"] = .text(try pair.sign(text).unpaddedBase64)
    signatures[user] = .object(own)
    members["signatures"] = .object(signatures)
    return .object(members)
  }

  /// Whether the object has a valid signature of that key.
  func isSigned(by key: Ed25519PublicKey, of user: String, keyID: String) -> Bool {
    guard let signature = self["signatures"]?[user]?["ed25519:\(keyID)"]?.text.flatMap({ [UInt8](base64: $0) }),
      let text = signedText
    else { return false }
    return key.isSignature(signature, of: text)
  }
}
