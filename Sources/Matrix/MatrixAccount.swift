import Secrets

/// The account that photos are sent with, and where it lives.
package struct MatrixAccount: Sendable {
  /// The homeserver's base URL, such as `https://matrix.example.org`.
  package var homeserver: String
  /// The access token of one device. The homeserver takes a repeated message for the first one only while it comes from
  /// the same device: a new login is a new device, and so is a token that somebody else uses.
  package let token: Renewable<Secret>

  package init(homeserver: String, token: Secret) { self.init(homeserver: homeserver, token: Renewable(token)) }

  package init(homeserver: String, token: Renewable<Secret>) {
    self.homeserver = homeserver
    self.token = token
  }
}
