import Matrix
import Messages
import Olm
import RoomKeys

/// Makes what opens encrypted events for a listener.
package struct MatrixRingMaker: Sendable {
  /// Gets the listener's server and log.
  let make: @Sendable (MatrixServer, @escaping @Sendable (String) -> Void) -> MatrixKeyRing
}

extension MatrixNetwork {
  /// Opens what others encrypt for the device that this network sends with; nil with `encryption: never`.
  var keyRing: MatrixRingMaker? {
    guard let roomKeys else { return nil }
    return MatrixRingMaker { server, log in
      MatrixKeyRing(
        server, file: { () async throws(DeliveryError) in try await roomKeys.files.keys() },
        device: { () async throws(DeliveryError) in OwnDevice(try await roomKeys.device.identity()) },
        stored: { () async throws(DeliveryError) in try await roomKeys.device.stored().map { OwnDevice($0) } },
        devices: roomKeys.devices,
        reopen: { senders async throws(DeliveryError) in try await roomKeys.reopen(senders) }, log: log)
    }
  }
}

extension OwnDevice {
  init(_ identity: MatrixIdentity) {
    self.init(
      user: identity.user, id: identity.device, identity: identity.identityKey, signing: identity.signingKey)
  }
}

extension MatrixDeviceList: SenderDevices {
  func prepare(_ users: Set<String>) async { _ = try? await devices(of: users.sorted()) }

  func fingerprint(
    of identityKey: Curve25519PublicKey, user: String
  ) async throws(DeliveryError) -> Ed25519PublicKey? {
    try await devices(of: [user]).first { $0.identityKey == identityKey }?.signingKey
  }
}
