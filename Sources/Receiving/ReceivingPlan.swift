import HTTP
import Matrix
import Messages
import Photos
import Settings

/// The part of the configuration for receiving. Read for each photo, so a reload also applies to waiting photos.
package struct ReceivingPlan: Sendable {
  package let settings: Settings
  let client: HTTPClient
  let preparer: any PhotoPreparer
  let homeservers: Homeservers
  let objects: OwnObjects

  /// - Parameter ownDirectories: local directories of stores; only sent photos are read there.
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
  /// The size limit of a received photo; a larger one could not be prepared.
  var receivedBytes: Int { min(receiving.bytes, photo.limits.inputBytes) }

  /// The size limit of an object: photo, envelope and seal.
  var receivedObjectBytes: Int { receivedBytes + 65_536 }
}
