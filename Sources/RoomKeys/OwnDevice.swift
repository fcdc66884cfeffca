import Olm

/// The account's device in whose name keys are offered and to which others send theirs.
package struct OwnDevice: Sendable {
  /// `@user:server`.
  package let user: String
  package let id: String
  /// The pair with which Olm sessions are agreed.
  package let identity: Curve25519KeyPair
  /// The pair that signs the device's keys.
  package let signing: Ed25519KeyPair

  package init(user: String, id: String, identity: Curve25519KeyPair, signing: Ed25519KeyPair) {
    self.user = user
    self.id = id
    self.identity = identity
    self.signing = signing
  }
}
