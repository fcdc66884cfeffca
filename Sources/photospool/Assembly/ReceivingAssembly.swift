import HTTP
import Matrix
import Messages
import Networks
import Photos
import Receiving
import Settings
import Spooling
import Stores

/// Makes the parts of receiving from the configuration.
extension Assembly {
  /// - Parameter former: the previous client, reused if unchanged.
  func receivingPlan(_ spool: Spool, _ preparer: any PhotoPreparer, client former: HTTPClient? = nil) throws
    -> ReceivingPlan
  {
    ReceivingPlan(
      settings: settings, client: former ?? HTTPClient(settings.http.client), preparer: preparer,
      homeservers: try homeservers(), ownDirectories: ownDirectories(spool))
  }

  /// The homeserver of a conversation's network, or else of the first Matrix network.
  private func homeservers() throws -> Homeservers {
    var accounts = [(name: String, account: MatrixAccount)]()
    for network in settings.networks {
      guard let matrix = network.type as? MatrixNetworkType else { continue }
      accounts.append((network.name, try matrix.account()))
    }
    return { [accounts, settings] conversation in
      let name = settings.route(of: conversation.text)?.network ?? settings.networks.first?.name
      return (accounts.first { $0.name == name } ?? accounts.first)?.account
    }
  }

  private func ownDirectories(_ spool: Spool) -> [String] {
    settings.stores.compactMap { store in
      (store.type as? DirectoryStoreType).map { $0.path ?? spool.objects.path }
    } + [spool.objects.path]
  }
}
