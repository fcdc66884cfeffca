import Secrets

package struct MatrixAccount: Sendable {
  /// The homeserver's base URL, such as `https://matrix.example.org`.
  package var homeserver: String
  /// The access token of one device. The homeserver recognises a repeated message only from the same device. A new
  /// login is a new device.
  package let token: Renewable<Secret>

  package init(homeserver: String, token: Secret) { self.init(homeserver: homeserver, token: Renewable(token)) }

  package init(homeserver: String, token: Renewable<Secret>) {
    self.homeserver = homeserver
    self.token = token
  }
}
