import Darkroom
import DurableFiles
import Janitor
import Ledgers
import Messages
import Settings
import Spooling
import Stores

/// Makes delivery's parts from the configuration.
struct Assembly {
  let settings: Settings

  func janitor(_ spool: Spool, _ ledger: Ledger) -> Janitor {
    Janitor(spool: spool, ledger: ledger, settings: settings, purge: purge(spool, ledger))
  }

  func purge(_ spool: Spool, _ ledger: Ledger) -> Purge {
    Purge(
      spool: spool, ledger: ledger, publishedNames: { [settings] in settings.publishedNames(of: $0) },
      objects: { [settings] in try settings.objectDirectories(of: spool) })
  }

  func darkroom() -> DarkroomPool {
    DarkroomPool(DarkroomPool.Options(program: DarkroomProgram.path, settings: settings))
  }
}

extension Settings {
  /// The local directories of stores.
  func objectDirectories(of spool: Spooling.Spool) throws(FileError) -> ObjectDirectories {
    var paths: [String: String] = [:]
    for store in stores {
      if let directory = store.type as? DirectoryStoreType { paths[store.name] = directory.path ?? spool.objects.path }
    }
    return try ObjectDirectories(paths)
  }
}
