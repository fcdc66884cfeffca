import SettingKit

/// The sections with named sections in them.
enum SectionFamily: String, CaseIterable, Sendable {
  case stores, networks

  /// More are a mistake or an attack.
  static let most = 100

  /// The noun for sentences, and the section of the standard one.
  var noun: String {
    switch self {
    case .stores: "store"
    case .networks: "network"
    }
  }

  var standardRows: [Setting<Settings>] {
    switch self {
    case .stores: Settings.Store.rows.map { $0.below(noun, \Settings.store) }
    case .networks: Settings.Network.rows.map { $0.below(noun, \Settings.network) }
    }
  }

  func rows(_ name: String) -> [Setting<Settings>] {
    let section = "\(rawValue).\(name)"
    return switch self {
    case .stores: Settings.Store.rows.map { $0.below(section, \Settings[store: name]) }
    case .networks: Settings.FurtherNetwork.rows.map { $0.below(section, \Settings[network: name]) }
    }
  }
}

extension Settings {
  subscript(store name: String) -> Store {
    get { furtherStores[name] ?? Store() }
    set { furtherStores[name] = newValue }
  }

  subscript(network name: String) -> FurtherNetwork {
    get { furtherNetworks[name] ?? FurtherNetwork() }
    set { furtherNetworks[name] = newValue }
  }
}
