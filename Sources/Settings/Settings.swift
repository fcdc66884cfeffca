import Messages
import Networks
import Seals
import SettingKit
import Stores

/// The configuration in typed values: read once, checked once, never changed afterwards.
///
/// Each section declares its settings once, with its rows: key, bounds and help beside the property, which has the default.
package struct Settings: SettingsSection {
  package var spool = Spool()
  /// The inbox of a request that names none.
  package var inbox = InboxID(unchecked: "default")
  package var log = Log()
  package var metrics = Metrics()
  package var intake = Intake()
  package var delivery = Delivery()
  package var photo = Photo()
  package var cache = Cache()
  package var janitor = Janitor()
  package var receiving = Receiving()
  package var http = HTTPSettings()
  package var profile = Profile()
  package var hooks = Hooks()

  /// What keeps uploaded photos: the standard store, then the further ones by their names.
  package internal(set) var stores = [
    StoreSettings(name: DirectoryStoreType.word, type: DirectoryStoreType(path: nil, url: nil))
  ]
  /// What publishes messages: the standard network, then the further ones by their names.
  package internal(set) var networks = [
    NetworkSettings(name: LocalNetworkType.word, store: DirectoryStoreType.word, seal: .xmtp, type: LocalNetworkType())
  ]
  /// The first that matches a conversation wins; what none matches goes to the standard network.
  package internal(set) var routes = [RouteSettings]()

  // What the file says, of which `stores` and `networks` are made.
  /// The encryption of the standard network's photos.
  var seal = Seal.xmtp
  var store = Store()
  var network = Network()
  var furtherStores = [String: Store]()
  var furtherNetworks = [String: FurtherNetwork]()

  /// By key; what is missing is at its default. Sections with a name of their own have one too.
  var origins = [String: SettingOrigin]()

  /// The defaults.
  package init() {}

  package static var rows: [Setting<Settings>] { SettingsSchema.settings }

  /// Where the value of a dotted key came from.
  package func origin(of key: String) -> SettingOrigin { origins[key] ?? .byDefault }

  package typealias Seal = SealKind
}

extension Settings: Equatable {
  /// Whether every setting has the same value, wherever it came from.
  package static func == (left: Settings, right: Settings) -> Bool {
    SettingsSchema.settings.allSatisfy { $0.text(in: left) == $0.text(in: right) }
      && left.stores == right.stores && left.networks == right.networks && left.routes == right.routes
  }
}
