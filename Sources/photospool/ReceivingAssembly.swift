import HTTP
import Matrix
import Messages
import Photos
import Receiving
import Secrets
import Settings
import Spooling

/// Makes of the configuration what receives photos.
extension Assembly {
  var receivingOptions: ReceivingOptions {
    var options = ReceivingOptions()
    options.inbox = settings.inbox
    options.fetch = settings.receiving.fetch
    options.photoBytes = min(settings.receiving.bytes, settings.photo.inputBytes)
    options.downloads = settings.receiving.downloads
    options.perHost = settings.receiving.perHost
    options.limits.connect = settings.http.connect.seconds
    options.limits.stall = settings.http.stall.seconds
    options.limits.total = settings.receiving.time.seconds
    options.lifetime = settings.receiving.lifetime.seconds
    options.allowsPrivateAddresses = settings.receiving.allowPrivate
    options.retry = RetryPolicy(
      first: settings.delivery.backoff.first.seconds, longest: settings.delivery.backoff.longest.seconds)
    options.mending = settings.delivery.mending.seconds
    options.remoteSeconds = settings.cache.remote.seconds
    options.settle = settings.intake.settle.seconds
    return options
  }

  var listeningPace: ListeningPace {
    var pace = ListeningPace()
    pace.probe = settings.delivery.probe.seconds
    pace.mending = settings.delivery.mending.seconds
    return pace
  }

  /// - Parameter former: the client before, where it is to be the same.
  func receivingPlan(_ spool: Spool, _ preparer: any PhotoPreparer, client former: HTTPClient? = nil) throws
    -> ReceivingPlan
  {
    ReceivingPlan(
      options: receivingOptions, client: former ?? receivingClient, preparer: preparer,
      homeservers: try homeservers(), ownDirectories: ownDirectories(spool))
  }

  var receivingClient: HTTPClient {
    var options = HTTPOptions()
    options.authorityFile = settings.http.authorityFile
    options.proxy = settings.http.proxy
    return HTTPClient(options)
  }

  /// The homeserver of the network that a conversation goes to, else that of the first Matrix network.
  private func homeservers() throws -> Homeservers {
    var accounts = [(name: String, account: MatrixAccount)]()
    for network in settings.networks {
      guard case .matrix(let matrix) = network.kind else { continue }
      let account = MatrixAccount(homeserver: matrix.homeserver, token: try Renewable(reading: matrix.token.load))
      accounts.append((network.name, account))
    }
    return { [accounts, settings] conversation in
      let name = settings.route(of: conversation.text)?.network ?? settings.networks.first?.name
      return (accounts.first { $0.name == name } ?? accounts.first)?.account
    }
  }

  private func ownDirectories(_ spool: Spool) -> [String] {
    settings.stores.compactMap { store in
      guard case .directory(let directory) = store.kind else { return nil }
      return directory.path ?? spool.objects.path
    } + [spool.objects.path]
  }
}
