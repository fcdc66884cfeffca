import Matrix
import Messages
import Olm
import RoomKeys

extension MatrixKeyRing {
  /// Opens what others encrypt for the device that `roomKeys` sends with.
  convenience init(_ server: MatrixServer, _ roomKeys: MatrixRoomKeys, log: @escaping @Sendable (String) -> Void) {
    self.init(
      server, files: roomKeys.files, devices: roomKeys.devices,
      device: { () async throws(DeliveryError) in OwnDevice(try await roomKeys.device.identity()) },
      stored: { () async throws(DeliveryError) in try await roomKeys.device.stored().map { OwnDevice($0) } },
      reopen: { senders async throws(DeliveryError) in try await roomKeys.reopen(senders) }, log: log)
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
