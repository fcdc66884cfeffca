extension Settings {
  /// Makes the stores, networks and routes of what is written, and tells what does not fit together.
  mutating func connect(
    routes entries: [RouteValues.Entry], of file: String, rejected: Set<String>
  ) -> [SettingsProblem] {
    let complaints = SettingsComplaints(self, rejected: rejected)
    let connections = Connections(settings: self, complaints: complaints)
    stores = connections.stores()
    networks = connections.networks()
    routes = connections.routes(entries, of: file)
    connections.checkProfile()
    return complaints.problems
  }
}

/// Makes stores and networks of their sections, and follows the names by which they speak of one another.
struct Connections {
  let settings: Settings
  let complaints: SettingsComplaints

  private var standardStore: String { settings.store.type.rawValue }
  var standardNetwork: String { settings.network.type.rawValue }

  func stores() -> [StoreSettings] {
    let standard = check("store", .stores, standardStore, SectionFamily.stores.standardRows)
      .flatMap { settings.store.assembled(standardStore, $0, isStandard: true) }
    let further = settings.furtherStores.sorted { $0.key < $1.key }.map { name, store in
      check("stores.\(name)", .stores, store.type.rawValue, SectionFamily.stores.rows(name))
        .flatMap { store.assembled(name, $0, isStandard: false) }
    }
    refuse(standardStore, in: .stores, settings.furtherStores.keys)
    return ([standard] + further).compactMap(\.self)
  }

  func networks() -> [NetworkSettings] {
    let standard = check("network", .networks, standardNetwork, SectionFamily.networks.standardRows)
      .flatMap { network(standardNetwork, Settings.FurtherNetwork(network: settings.network), $0) }
    let further = settings.furtherNetworks.sorted { $0.key < $1.key }.map { name, further in
      check("networks.\(name)", .networks, further.network.type.rawValue, SectionFamily.networks.rows(name))
        .flatMap { network(name, further, $0) }
    }
    refuse(standardNetwork, in: .networks, settings.furtherNetworks.keys)
    return ([standard] + further).compactMap(\.self)
  }

  /// What looks into the section at `path`, in which settings for other types are told already; nil when the section's
  /// type is not known.
  private func check(
    _ path: String, _ family: SectionFamily, _ type: String, _ rows: [Setting<Settings>]
  ) -> SectionCheck? {
    guard complaints.rejected.isDisjoint(with: [path, "\(path).type"]) else { return nil }
    let check = SectionCheck(path: path, noun: family.noun, type: type, complaints: complaints)
    check.refuseOthers(rows)
    return check
  }

  /// A further one may not have the standard one's name.
  private func refuse(_ standard: String, in family: SectionFamily, _ names: some Collection<String>) {
    guard names.contains(standard), !complaints.rejected.contains("\(family.noun).type") else { return }
    complaints.add(
      ["\(family.rawValue).\(standard)"],
      "the standard \(family.noun) is called `\(standard)`, like its type; call this one otherwise")
  }

  private func network(
    _ name: String, _ section: Settings.FurtherNetwork, _ check: SectionCheck
  ) -> NetworkSettings? {
    let store = section.store ?? standardStore
    let seal = section.seal ?? settings.seal
    let kind = section.network.assembled(check)
    let isKnown = isKnown(
      store, in: .stores, among: [standardStore] + settings.furtherStores.keys.sorted(),
      sentence: "`\(check.path).store` is \(quoted(store)), and there is no such store"
    ) { complaints.add(["\(check.path).store"], $0) }
    guard isKnown, let kind, carries(section.network.type, seal, photosOf: store, check.path) else { return nil }
    let listening =
      section.network.listen
      ? NetworkSettings.Listening(inbox: section.network.inbox ?? settings.inbox) : nil
    return NetworkSettings(name: name, store: store, seal: seal, kind: kind, listening: listening)
  }

  /// Complains of a network that does not exist, of XMTP without a group, and of a group on another network.
  func checkProfile() {
    guard complaints.rejected.isDisjoint(with: ["profile.network", "profile.conversation"]) else { return }
    let network = settings.profile.network ?? standardNetwork
    if network == standardNetwork, complaints.rejected.contains("network.type") { return }
    let isKnown = isKnown(
      network, in: .networks, among: [standardNetwork] + settings.furtherNetworks.keys.sorted(),
      sentence: "`profile.network` is \(quoted(network)), and there is no such network"
    ) { complaints.add(["profile.network"], $0) }
    let type = network == standardNetwork ? settings.network.type : settings.furtherNetworks[network]?.network.type
    guard isKnown, let type else { return }
    if type == .xmtp, settings.profile.network != nil, settings.profile.conversation == nil {
      complaints.add(
        ["profile.network"],
        "`profile.network` is \(quoted(network)), of type `xmtp`; name a group in `profile.conversation`, too"
      )
    }
    if type != .xmtp, settings.profile.conversation != nil {
      complaints.add(
        ["profile.conversation"],
        "`profile.conversation` is only for the type `xmtp`, and \(quoted(network)) is of type `\(type.rawValue)`"
      )
    }
  }

  /// Whether network and seal can carry the URLs of the store's photos; that they cannot is told.
  private func carries(
    _ type: Settings.Network.Kind, _ seal: Settings.Seal, photosOf store: String, _ path: String
  ) -> Bool {
    let section = store == standardStore ? "store" : "stores.\(store)"
    let storeType = store == standardStore ? settings.store.type : settings[store: store].type
    guard storeType == .matrix, !complaints.rejected.contains("\(section).type") else { return true }
    let beginning = "photos of the store `\(store)` have mxc:// URLs, which only"
    if type != .matrix {
      complaints.add(
        ["\(path).store", "\(path).type", path, "store.type"],
        "\(beginning) a network of type `matrix` can carry, and `\(path)` is of type `\(type.rawValue)`")
      return false
    }
    let sealKeys = ["\(path).seal", "seal"]
    if seal == .xmtp, complaints.rejected.isDisjoint(with: sealKeys) {
      complaints.add(
        sealKeys + ["\(path).store", path, "store.type"],
        "\(beginning) the seals `matrix` and `none` can carry; write `seal: matrix`")
      return false
    }
    return true
  }

  /// Whether there is a store or network of that name. That there is none is told, with what was probably meant.
  func isKnown(
    _ name: String, in family: SectionFamily, among names: [String], sentence: String, tell: (String) -> Void
  ) -> Bool {
    // Of a section with a wrong name or type it was told already.
    let isExcused =
      complaints.rejected.contains("\(family.rawValue).\(name)") || complaints.rejected.contains(family.rawValue)
      || complaints.rejected.contains("\(family.noun).type")
    if names.contains(name) || isExcused { return true }
    tell(sentence + (suggestion(for: name, among: names).map { "; did you mean `\($0)`?" } ?? ""))
    return false
  }
}
