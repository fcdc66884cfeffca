import HTTP
import Matrix
import Messages
import Olm
import Secrets
import Synchronization

/// Makes the account's device ready to encrypt: its keys are durable, then published, then signed by the account's
/// identity.
///
/// An account without an identity gets one. The identity of an account is never replaced: if another client made it, its
/// recovery key is needed once, to sign this device. Each step may be repeated after a crash.
final class MatrixOwnDevice: Sendable {
  private let server: MatrixServer
  let files: MatrixKeyFiles
  private let recoveryKey: Renewable<Secret>?
  private let turns = KeyedMutex()
  /// The ready device, and the token that it belongs to.
  private let ready = Mutex<(identity: MatrixIdentity, token: Int)?>(nil)

  init(_ server: MatrixServer, files: MatrixKeyFiles, recoveryKey: Renewable<Secret>?) {
    self.server = server
    self.files = files
    self.recoveryKey = recoveryKey
  }

  /// The device of the current token, published and signed.
  ///
  /// - Throws: `.configError` with what to do if it cannot be signed, and if the homeserver has other keys of it.
  func identity() async throws(DeliveryError) -> MatrixIdentity {
    try await turns.withLock("") { () async throws(DeliveryError) in
      let token = server.tokenMark
      if let ready = ready.withLock({ $0 }), ready.token == token { return ready.identity }
      let identity = try await prepare()
      ready.withLock { $0 = (identity, token) }
      return identity
    }
  }

  /// The stored keys of the current token's device, published and signed or not; nil without keys of it.
  func stored() async throws(DeliveryError) -> MatrixIdentity? {
    try await turns.withLock("") { () async throws(DeliveryError) in
      let (user, device) = try await whoami()
      guard let stored = try await stored(for: user), stored.device == device else { return nil }
      return stored
    }
  }

  /// The user and the device of the token.
  func whoami() async throws(DeliveryError) -> (user: String, device: String) {
    let answer = try await server.ask(.get, "/_matrix/client/v3/account/whoami")
    let user: String = try server.need("user_id", of: answer)
    guard let device: String = answer.member("device_id") else {
      throw DeliveryError(
        .configError, "the access token has no device, so \(user) cannot encrypt; log in with a device")
    }
    return (user, device)
  }

  /// The stored keys, if they belong to the account; nil before the first ones.
  func stored(for user: String) async throws(DeliveryError) -> MatrixIdentity? {
    guard let stored = try await files.read("identity", as: MatrixIdentity.self) else { return nil }
    if stored.user == user { return stored }
    throw DeliveryError(
      .configError,
      "the keys in the state directory belong to \(stored.user) and the token to \(user); use another network name")
  }

  func keys(of user: String) async throws(DeliveryError) -> JSONValue {
    try await server.post("/_matrix/client/v3/keys/query", .object(["device_keys": .object([user: .list([])])]))
  }

  private func prepare() async throws(DeliveryError) -> MatrixIdentity {
    let (user, device) = try await whoami()
    var own = try usingOlm { () throws(OlmError) in try MatrixIdentity(user: user, device: device) }
    if let stored = try await stored(for: user) {
      if stored.device == device {
        own = stored
      } else {
        own.crossSigning = stored.crossSigning
        own.isIdentityPublished = stored.isIdentityPublished
      }
    }
    // Durable before anything is published.
    try await files.write(own, as: "identity")
    try await publishDevice(&own)
    try await sign(&own)
    return own
  }

  private func publishDevice(_ own: inout MatrixIdentity) async throws(DeliveryError) {
    let answer = try await keys(of: own.user)
    if let object = answer["device_keys"]?[own.user]?[own.device] {
      let device = MatrixDevice(object, user: own.user, id: own.device, selfSigning: nil)
      guard device?.identityKey == own.identityKey.publicKey, device?.signingKey == own.signingKey.publicKey else {
        throw DeliveryError(
          .configError,
          "\(server.name) has other keys of the device \(own.device); log in anew and replace the token")
      }
    } else if own.isPublished {
      throw DeliveryError(
        .configError, "\(server.name) has lost the keys of the device \(own.device); log in anew and replace the token")
    } else {
      let keys = try usingOlm { () throws(OlmError) in try own.deviceKeys() }
      _ = try await server.post("/_matrix/client/v3/keys/upload", .object(["device_keys": keys]))
    }
    if own.isPublished { return }
    own.isPublished = true
    try await files.write(own, as: "identity")
  }

  // MARK: Cross-signing

  private func sign(_ own: inout MatrixIdentity) async throws(DeliveryError) {
    var answer = try await keys(of: own.user)
    if answer["master_keys"]?[own.user] == nil {
      try await publishIdentity(&own)
      answer = try await keys(of: own.user)
    }
    let keys = MatrixUserKeys(answer, of: own.user)
    if keys.devices.first(where: { $0.id == own.device })?.isCrossSigned == true { return }
    guard keys.master != nil, let selfSigning = keys.selfSigning else {
      throw DeliveryError(
        .configError, "the identity of \(own.user) is incomplete; set it up in a chat app, or reset it there")
    }
    if own.crossSigning?.selfSigning.publicKey != selfSigning {
      try await join(&own, selfSigning)
    }
    try await uploadSignature(of: own)
  }

  /// Makes the account's first identity, and uploads it. Its seeds are durable first.
  private func publishIdentity(_ own: inout MatrixIdentity) async throws(DeliveryError) {
    guard !own.isIdentityPublished else {
      throw DeliveryError(
        .configError,
        "\(server.name) has lost the identity of \(own.user); restore the homeserver, or move the identity file away")
    }
    if own.crossSigning?.master == nil {
      own.crossSigning = try usingOlm { () throws(OlmError) in try MatrixIdentity.CrossSigning() }
    }
    try await files.write(own, as: "identity")
    let upload = try usingOlm { () throws(OlmError) in try own.crossSigningKeys() }
    let answer = try await server.ask(
      .post, "/_matrix/client/v3/keys/device_signing/upload", upload?.canonical ?? [])
    if answer.status == 401, answer.json?["flows"] != nil {
      throw DeliveryError(
        .configError,
        "\(server.name) wants a password for an identity of \(own.user); make it in a chat app and set recoveryKeyFile")
    }
    guard answer.isSuccess else { throw server.faults.error(answer) }
    own.isIdentityPublished = true
    try await files.write(own, as: "identity")
  }

  /// Gets the self-signing key of an identity that another client made.
  private func join(_ own: inout MatrixIdentity, _ selfSigning: Ed25519PublicKey) async throws(DeliveryError) {
    guard let recoveryKey else {
      throw DeliveryError(
        .configError,
        "\(own.user) has an identity that is not photospool's; set recoveryKeyFile to sign the device \(own.device), "
          + "or verify the device in a chat app")
    }
    let storage = SecretStorage(server: server, user: own.user)
    let pair: Ed25519KeyPair
    do throws(DeliveryError) { pair = try await storage.selfSigningKey(with: recoveryKey.current.reveal()) } catch {
      recoveryKey.refuse()
      throw error
    }
    guard pair.publicKey == selfSigning else {
      throw DeliveryError(
        .configError, "Secret Storage of \(own.user) holds a former self-signing key; set up recovery in a chat app")
    }
    own.crossSigning = MatrixIdentity.CrossSigning(master: nil, selfSigning: pair, userSigning: nil)
    try await files.write(own, as: "identity")
  }

  private func uploadSignature(of own: MatrixIdentity) async throws(DeliveryError) {
    guard let pair = own.crossSigning?.selfSigning else { return }
    let signed = try usingOlm { () throws(OlmError) in
      try own.deviceKeys().signed(by: pair, of: own.user, keyID: pair.publicKey.base64)
    }
    let answer = try await server.post(
      "/_matrix/client/v3/keys/signatures/upload", .object([own.user: .object([own.device: signed])]))
    guard answer["failures"]?.members.isEmpty ?? true else {
      throw DeliveryError(.configError, "\(server.name) refuses the signature of the device \(own.device)")
    }
  }
}

/// The result of `work`, with its error in the words of delivery.
func usingOlm<Value>(_ work: () throws(OlmError) -> Value) throws(DeliveryError) -> Value {
  do { return try work() } catch { throw DeliveryError(.configError, "cannot encrypt: \(error)") }
}
