import HTTP
import Matrix
import Messages
import Photos
import Settings

/// What the configuration in force means for receiving. It is asked for anew for each photo, so that a configuration that
/// is read again reaches what already waits.
package struct ReceivingPlan: Sendable {
  package let settings: Settings
  let client: HTTPClient
  let preparer: any PhotoPreparer
  let homeservers: Homeservers
  let objects: OwnObjects

  /// - Parameter ownDirectories: where stores of this machine keep objects; only what was sent from here is read there.
  package init(
    settings: Settings, client: HTTPClient, preparer: any PhotoPreparer, homeservers: @escaping Homeservers,
    ownDirectories: [String]
  ) {
    self.settings = settings
    self.client = client
    self.preparer = preparer
    self.homeservers = homeservers
    objects = OwnObjects(directories: ownDirectories)
  }
}

extension Settings {
  /// Bytes of a received photo; one that is larger could not be prepared.
  var receivedBytes: Int { min(receiving.bytes, photo.limits.inputBytes) }

  /// Bytes of an object: the photo, its envelope and its seal.
  var receivedObjectBytes: Int { receivedBytes + 65_536 }
}
