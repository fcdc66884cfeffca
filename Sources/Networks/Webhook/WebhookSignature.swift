import Digests
import Messages
import Secrets

/// Symmetric signatures of Standard Webhooks (standardwebhooks.com): HMAC-SHA256 over id, time and body.
struct WebhookSignature: Sendable {
  /// Descriptions show a pointer of OpenSSL's, and no key.
  private let keys: [HMACSHA256]

  private static let prefix = "whsec_"
  /// The lengths that a key may have, in bytes.
  private static let lengths = 24...64

  /// - Parameter secrets: each `whsec_` and base64. All of them sign.
  /// - Throws: `.configError` for none or an invalid one.
  init(_ secrets: [Secret]) throws(DeliveryError) {
    guard !secrets.isEmpty else {
      throw DeliveryError(.configError, "a webhook needs a secret to sign with; generate one and tell the receiver")
    }
    keys = try secrets.map(Self.key)
  }

  private static func key(_ secret: Secret) throws(DeliveryError) -> HMACSHA256 {
    let text = secret.reveal()
    guard text.hasPrefix(prefix), let key = [UInt8](base64: text.dropFirst(prefix.count)), lengths ~= key.count else {
      throw DeliveryError(.configError, "a webhook's secret has to be `whsec_` and 24 to 64 bytes in base64")
    }
    return HMACSHA256(key: key)
  }

  /// The value of `webhook-signature`.
  ///
  /// - Parameter seconds: the time of this attempt, since 1970.
  func header(id: String, seconds: Int64, body: [UInt8]) -> String {
    let signed = Array("\(id).\(seconds).".utf8) + body
    return keys.map { "v1,\($0.code(of: signed).base64)" }.joined(separator: " ")
  }
}
