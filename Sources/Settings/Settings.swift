import Messages
import Networks
import Seals
import SettingKit
import Stores

/// The configuration, read and checked once, and never changed. Each section declares its settings as rows with key,
/// bounds and help, beside the properties with the defaults.
package struct Settings: SettingsSection {
  package var spool = Spool()
  /// The inbox of a request without one.
  package var inbox = InboxID(unchecked: "default")
  package var texts = SentTexts.drop
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
  package var mail = Mail()
  package var web = Web()
  package var cluster = Cluster()

  /// The standard store, then the others by name.
  package internal(set) var stores = [
    StoreSettings(name: DirectoryStoreType.word, type: DirectoryStoreType())
  ]
  /// The standard network, then the others by name.
  package internal(set) var networks = [
    NetworkSettings(name: LocalNetworkType.word, store: DirectoryStoreType.word, seal: .xmtp, type: LocalNetworkType())
  ]
  /// The first matching route applies; the default is the standard network.
  package internal(set) var routes = [RouteSettings]()
  /// The first matching rule applies to a mail's address. Without a rule no mail is taken.
  package internal(set) var mailRules = [MailRule]()
  /// The folders that `photospool watch` watches.
  package internal(set) var watchedFolders = [WatchedFolder]()

  // Values of the file from which `stores` and `networks` are made.
  /// The encryption of the standard network's photos.
  var seal = Seal.xmtp
  var store = Store()
  var network = Network()
  var furtherStores = [String: Store]()
  var furtherNetworks = [String: FurtherNetwork]()

  /// By key, also of named sections; a missing key is at its default.
  var origins = [String: SettingOrigin]()

  package init() {}

  package static var rows: [Setting<Settings>] { SettingsSchema.settings }

  package func origin(of key: String) -> SettingOrigin { origins[key] ?? .byDefault }

  package typealias Seal = SealKind

  /// Whether a text is kept once it is sent.
  package enum SentTexts: String, CaseIterable, Sendable {
    case drop
    /// It stays as `sent/NAME/text` until its receipt goes.
    case keep
  }
}

extension Settings: Equatable {
  /// Whether all values are equal, whatever their origin.
  package static func == (left: Settings, right: Settings) -> Bool {
    SettingsSchema.settings.allSatisfy { $0.text(in: left) == $0.text(in: right) }
      && left.stores == right.stores && left.networks == right.networks && left.routes == right.routes
      && left.mailRules == right.mailRules && left.watchedFolders == right.watchedFolders
  }
}
