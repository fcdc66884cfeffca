import Secrets

/// The account that photos are sent with, and where it lives.
public struct MatrixAccount: Sendable {
  /// The homeserver's base URL, such as `https://matrix.example.org`.
  public var homeserver: String
  /// The access token of one device. The homeserver takes a repeated message for the first one only while it comes from
  /// the same device: a new login is a new device, and so is a token that somebody else uses.
  public let token: Renewable<Secret>

  public init(homeserver: String, token: Secret) { self.init(homeserver: homeserver, token: Renewable(token)) }

  public init(homeserver: String, token: Renewable<Secret>) {
    self.homeserver = homeserver
    self.token = token
  }
}
