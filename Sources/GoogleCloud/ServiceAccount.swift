import FoundationEssentials
import HTTP
import Messages
import Secrets

/// A service account of Google Cloud, as its key file describes it.
package struct ServiceAccount: Sendable {
  private struct KeyFile: Decodable {
    let email: String
    let key: String
    let keyID: String?
    let tokenURL: String

    private enum CodingKeys: String, CodingKey {
      case email = "client_email"
      case key = "private_key"
      case keyID = "private_key_id"
      case tokenURL = "token_uri"
    }
  }

  /// The account's name, an address of mail.
  package let email: String
  /// The endpoint that gives access tokens for signed assertions.
  package let tokenURL: String
  private let key: RS256Key
  private let keyID: String?

  /// How long an assertion is valid, in seconds; Google allows an hour at most.
  private static let validity: Int64 = 3600

  /// - Parameter keyFile: the JSON that Google Cloud gives for a key of a service account.
  /// - Throws: `.configError` for anything else, or for an endpoint to which the assertion would go unencrypted.
  package init(_ keyFile: Secret) throws(DeliveryError) {
    guard let file = try? JSONDecoder().decode(KeyFile.self, from: Data(keyFile.reveal().utf8)),
      let key = RS256Key(pem: file.key)
    else {
      throw DeliveryError(
        .configError,
        "`keyFile` is not the key file of a service account; make a key of the type JSON in Google Cloud's console")
    }
    guard let address = HTTPAddress(file.tokenURL), address.scheme == "https" || address.isThisComputer else {
      throw DeliveryError(
        .configError, "`token_uri` in `keyFile` has to begin with `https://`; make a new key of the service account")
    }
    email = file.email
    tokenURL = file.tokenURL
    self.key = key
    keyID = file.keyID.flatMap { $0.wholeMatch(of: /[A-Za-z0-9_-]{1,128}/) == nil ? nil : $0 }
  }

  /// The assertion of a request for an access token (RFC 7523): the account's claims, signed with its key.
  ///
  /// - Throws: `.configError` if OpenSSL cannot sign.
  package func assertion(for scope: GoogleUse, at now: Timestamp) throws(DeliveryError) -> String {
    let seconds = now.milliseconds / 1000
    let claims: JSONObjectText = [
      "iss": email, "scope": scope.rawValue, "aud": tokenURL, "iat": Int(seconds),
      "exp": Int(seconds + Self.validity),
    ]
    guard let token = key.token(id: keyID, claims: claims.bytes) else {
      throw DeliveryError(.configError, "the key of the service account \(email) cannot sign; make a new one")
    }
    return token
  }
}
