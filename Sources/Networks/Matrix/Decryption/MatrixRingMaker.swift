import DurableFiles
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
  func keyRing(in state: Directory) -> MatrixRingMaker? {
    guard let roomKeys else { return nil }
    return MatrixRingMaker { [name] server, log in
      MatrixKeyRing(
        server, directory: { try state.directory(creating: "matrix").directory(creating: name) },
        device: { () async throws(DeliveryError) in
          let own = try await roomKeys.device.identity()
          return OwnDevice(user: own.user, id: own.device, identity: own.identityKey, signing: own.signingKey)
        }, devices: roomKeys.devices, log: log)
    }
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
