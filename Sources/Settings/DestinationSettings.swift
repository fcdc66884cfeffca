import Messages
import Networks
import Seals
import SettingKit
import Stores

/// A configured store.
package struct StoreSettings: Sendable, Hashable {
  /// Unique; for the standard store, the word of its type.
  package let name: String
  package let type: any StoreType

  package static func == (left: Self, right: Self) -> Bool {
    left.name == right.name && left.type.isEqual(to: right.type)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A configured network.
package struct NetworkSettings: Sendable, Hashable {
  /// Unique; for the standard network, the word of its type.
  package let name: String
  /// The name of its store in `Settings.stores`.
  package let store: String
  package let seal: Settings.Seal
  package let type: any NetworkType
  /// The inbox that receives messages of others; nil without listening.
  package var listening: InboxID?

  package static func == (left: Self, right: Self) -> Bool {
    (left.name, left.store, left.seal, left.listening) == (right.name, right.store, right.seal, right.listening)
      && left.type.isEqual(to: right.type)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// Who can read its messages and photos, as the end of a sentence.
  package var privacy: String {
    let photos =
      seal == .unsealed ? "photos are NOT sealed: whoever reads the store sees them" : type.privacy(sealedWith: seal)
    return photos + (type.isPlain ? Self.plainWay : "")
  }

  package static let plainWay = "; the way there is NOT encrypted"
}

extension Settings {
  /// Makes stores, networks and routes from the values, and reports contradictions.
  mutating func connect(
    routes entries: [RouteValues.Entry], of file: String, rejected: Set<String>
  ) -> [SettingsProblem] {
    let complaints = SettingsComplaints(rejected: rejected, origin: origin)
    let destinations = DestinationSettings(settings: self, complaints: complaints)
    stores = destinations.stores()
    networks = destinations.networks()
    routes = destinations.routes(entries, of: file)
    destinations.checkProfile()
    destinations.checkCluster(stores, networks)
    return complaints.problems
  }
}

/// Makes stores and networks from their sections, and resolves the names between them.
struct DestinationSettings {
  let settings: Settings
  let complaints: SettingsComplaints

  var standardStore: String { settings.store.type }
  var standardNetwork: String { settings.network.type }

  func stores() -> [StoreSettings] {
    checks(.stores, standard: standardStore, settings.furtherStores.mapValues(\.type)).compactMap { name, check in
      let section = check.isStandard ? settings.store : settings[store: name]
      return Self.storeType(section.type)?.made(of: section, check).map { StoreSettings(name: name, type: $0) }
    }
  }

  func networks() -> [NetworkSettings] {
    checks(.networks, standard: standardNetwork, settings.furtherNetworks.mapValues(\.network.type)).compactMap {
      name, check in
      let standard = Settings.FurtherNetwork(network: settings.network)
      return network(name, check.isStandard ? standard : settings[network: name], check)
    }
  }

  /// The checks of the standard section and of the further ones, whose names and types are given. Reports a further one
  /// with the standard one's name.
  private func checks(
    _ family: SectionFamily, standard: String, _ further: [String: String]
  ) -> [(name: String, check: SectionCheck)] {
    var checks: [(String, SectionCheck?)] = [
      (standard, check(family.noun, family, standard, family.standardRows, isStandard: true))
    ]
    for (name, type) in further.sorted(by: { $0.key < $1.key }) {
      checks.append((name, check("\(family.rawValue).\(name)", family, type, family.rows(name))))
    }
    if further[standard] != nil, !complaints.rejected.contains("\(family.noun).type") {
      complaints.add(
        ["\(family.rawValue).\(standard)"],
        "the standard \(family.noun) is called `\(standard)`, like its type; call this one otherwise")
    }
    return checks.compactMap { name, check in check.map { (name, $0) } }
  }

  /// The check of the section at `path`, after reporting settings of other types; nil if the section's type is unknown.
  private func check(
    _ path: String, _ family: SectionFamily, _ type: String, _ rows: [Setting<Settings>], isStandard: Bool = false
  ) -> SectionCheck? {
    guard complaints.rejected.isDisjoint(with: [path, "\(path).type"]) else { return nil }
    // A setting of another type at its default is harmless.
    for row in rows where !row.types.isEmpty && !row.types.contains(type) {
      guard settings.origin(of: row.key) != .byDefault, row.text(in: settings) != row.defaultText else { continue }
      complaints.add(
        [row.key],
        "`\(row.key)` is for a \(family.noun) of type \(choice(row.types)), and `\(path)` is of type `\(type)`")
    }
    return SectionCheck(path: path, type: type, isStandard: isStandard, complaints: complaints)
  }

  private func network(
    _ name: String, _ section: Settings.FurtherNetwork, _ check: SectionCheck
  ) -> NetworkSettings? {
    let store = section.store ?? standardStore
    let seal = section.seal ?? settings.seal
    let type = Self.networkType(section.network.type)?.made(of: section.network, check)
    guard isKnown(store, in: .stores, at: "\(check.path).store"), let type,
      carries(section.network.type, seal, photosOf: store, check.path)
    else { return nil }
    return NetworkSettings(
      name: name, store: store, seal: seal, type: type,
      listening: section.network.listen ? section.network.inbox ?? settings.inbox : nil)
  }

  private static func storeType(_ word: String) -> (any StoreType.Type)? {
    AllStores.types.first { $0.word == word }
  }

  private static func networkType(_ word: String) -> (any NetworkType.Type)? {
    AllNetworks.types.first { $0.word == word }
  }

  /// nil if there is no such network or type.
  func type(ofNetwork name: String) -> (any NetworkType.Type)? {
    let word = name == standardNetwork ? settings.network.type : settings.furtherNetworks[name]?.network.type
    return word.flatMap(Self.networkType)
  }

  /// Reports a profile network that does not exist, needs a group without one, or has a group it cannot use.
  func checkProfile() {
    guard complaints.rejected.isDisjoint(with: ["profile.network", "profile.conversation"]) else { return }
    let network = settings.profile.network ?? standardNetwork
    if network == standardNetwork, complaints.rejected.contains("network.type") { return }
    guard isKnown(network, in: .networks, at: "profile.network"), let type = type(ofNetwork: network) else { return }
    if type.profilePhotos == .perGroup, settings.profile.network != nil, settings.profile.conversation == nil {
      complaints.add(
        ["profile.network"],
        "`profile.network` is \(quoted(network)), of type `\(type.word)`; name a group in `profile.conversation`, too"
      )
    }
    if type.profilePhotos != .perGroup, settings.profile.conversation != nil {
      let types = AllNetworks.types.filter { $0.profilePhotos == .perGroup }.map { "`\($0.word)`" }
      complaints.add(
        ["profile.conversation"],
        "`profile.conversation` is only for the type \(types.joined(separator: " or ")), and \(quoted(network)) is of type `\(type.word)`"
      )
    }
  }

  /// Whether network and seal support the URLs of the store's photos; a report says if not.
  private func carries(_ type: String, _ seal: Settings.Seal, photosOf store: String, _ path: String) -> Bool {
    let section = store == standardStore ? "store" : "stores.\(store)"
    let storeType = store == standardStore ? settings.store.type : settings[store: store].type
    guard let urls = Self.storeType(storeType)?.ownURLs, !complaints.rejected.contains("\(section).type") else {
      return true
    }
    let beginning = "photos of the store `\(store)` have \(urls.scheme) URLs, which only"
    if type != urls.network {
      complaints.add(
        ["\(path).store", "\(path).type", path, "store.type"],
        "\(beginning) a network of type `\(urls.network)` can carry, and `\(path)` is of type `\(type)`")
      return false
    }
    let sealKeys = ["\(path).seal", "seal"]
    if !urls.seals.contains(seal), complaints.rejected.isDisjoint(with: sealKeys) {
      let seals = urls.seals.map { "`\($0.rawValue)`" }.joined(separator: " and ")
      complaints.add(
        sealKeys + ["\(path).store", path, "store.type"],
        "\(beginning) the seals \(seals) can carry; write `seal: \(urls.seals.first?.rawValue ?? "")`")
      return false
    }
    return true
  }

  /// Whether there is a store or network of that name; a report says if not, with the nearest name.
  ///
  /// - Parameter origin: the place of the report; nil for that of `key`.
  func isKnown(_ name: String, in family: SectionFamily, at key: String, _ origin: SettingOrigin? = nil) -> Bool {
    let names =
      switch family {
      case .stores: [standardStore] + settings.furtherStores.keys.sorted()
      case .networks: [standardNetwork] + settings.furtherNetworks.keys.sorted()
      }
    // An error in its section was already reported.
    let isExcused =
      complaints.rejected.contains("\(family.rawValue).\(name)") || complaints.rejected.contains(family.rawValue)
      || complaints.rejected.contains("\(family.noun).type")
    if names.contains(name) || isExcused { return true }
    let meant = suggestion(for: name, among: names).map { "; did you mean `\($0)`?" } ?? ""
    complaints.add(
      at: origin ?? settings.origin(of: key),
      "`\(key)` is \(quoted(name)), and there is no such \(family.noun)\(meant)")
    return false
  }
}
