import Darkroom
import DurableFiles
import HTTP
import Janitor
import Ledgers
import Logging
import MailIntake
import Matrix
import Messages
import Networks
import Photos
import Receiving
import Settings
import Spooling
import Stores

/// Objects that the configuration describes, for one spool.
extension Settings {
  /// The janitor of a spool.
  package func makeJanitor(_ spool: Spooling.Spool, _ ledger: Ledger) -> SpoolJanitor {
    SpoolJanitor(spool: spool, ledger: ledger, settings: self, purge: makePurge(spool, ledger))
  }

  /// The purge of a spool.
  package func makePurge(_ spool: Spooling.Spool, _ ledger: Ledger) -> PurgeRun {
    PurgeRun(
      spool: spool, ledger: ledger, publishedNames: { publishedNames(of: $0) },
      objects: { try objectDirectories(of: spool) },
      takeMails: {
        let log = Logger(label: "photospool") { _ in SwiftLogNoOpLogHandler() }
        try await makeMailRoom(spool, settings: { self }, log: log)?.empty()
      })
  }

  /// Makes requests of mails; nil if no rule takes any.
  ///
  /// - Parameter settings: the current ones.
  package func makeMailRoom(
    _ spool: Spooling.Spool, settings: @escaping @Sendable () -> Settings, log: Logger
  ) throws -> MailRoom? {
    mailRules.isEmpty
      ? nil : try MailRoom(spool: spool, program: DarkroomProgram.path, settings: settings, log: log)
  }

  /// The processes that decode photos.
  package func makeDarkroom() -> DarkroomPool {
    DarkroomPool(DarkroomPool.Options(program: DarkroomProgram.path, settings: self))
  }

  /// - Parameter client: the client before, where it is to be the same.
  package func makeReceivingPlan(
    _ spool: Spooling.Spool, _ preparer: any PhotoPreparer, client: HTTPClient? = nil
  ) throws -> ReceivingPlan {
    ReceivingPlan(
      settings: self, client: client ?? HTTPClient(http.client), preparer: preparer, homeservers: try homeservers(),
      ownDirectories: objectPaths(in: spool).map(\.path) + [spool.objects.path])
  }

  /// Where stores of this machine keep objects.
  package func objectDirectories(of spool: Spooling.Spool) throws(FileError) -> ObjectDirectories {
    try ObjectDirectories(Dictionary(objectPaths(in: spool)) { $1 })
  }

  private func objectPaths(in spool: Spooling.Spool) -> [(store: String, path: String)] {
    stores.compactMap { store in
      (store.type as? DirectoryStoreType).map { (store.name, $0.directory ?? spool.objects.path) }
    }
  }

  /// The homeserver of the network that a conversation goes to, else that of the first Matrix network.
  private func homeservers() throws -> Homeservers {
    let accounts = try networks.compactMap { network in
      try (network.type as? MatrixNetworkType).map { (name: network.name, account: try $0.account()) }
    }
    return { conversation in
      let name = route(of: conversation.text)?.network ?? networks.first?.name
      return (accounts.first { $0.name == name } ?? accounts.first)?.account
    }
  }
}
