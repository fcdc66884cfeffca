import HTTP
import Matrix
import Messages
import Photos

/// What the configuration in force means for receiving. It is asked for anew for each photo, so that a configuration that
/// is read again reaches what already waits.
public struct ReceivingPlan: Sendable {
  public let options: ReceivingOptions
  let client: HTTPClient
  let preparer: any PhotoPreparer
  let homeservers: Homeservers
  let objects: OwnObjects

  /// - Parameter ownDirectories: where stores of this machine keep objects; only what was sent from here is read there.
  public init(
    options: ReceivingOptions, client: HTTPClient, preparer: any PhotoPreparer, homeservers: @escaping Homeservers,
    ownDirectories: [String]
  ) {
    self.options = options
    self.client = client
    self.preparer = preparer
    self.homeservers = homeservers
    objects = OwnObjects(directories: ownDirectories)
  }
}
