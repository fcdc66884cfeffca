import Messages
import Networks
import Seals
import SettingKit
import Stores

/// A section with a store or a network: its type, and the settings of all types.
protocol DestinationSection: SettingsSection {
  var type: String { get set }
  /// The settings of each type, by its word; a missing type is at its defaults.
  var parts: [String: any SettingsSection] { get set }
}

extension DestinationSection {
  static func == (left: Self, right: Self) -> Bool { rows.allSatisfy { $0.text(in: left) == $0.text(in: right) } }

  /// The type's row, and one for each setting of any type.
  static func unitedRows(of types: [any DestinationType.Type], type help: String) -> [Setting<Self>] {
    var rows = [Setting<Self>("type", \.type, .word(types.map { $0.word }), help)]
    for row in types.flatMap({ $0.rows(in: Self.self) }) {
      if let index = rows.firstIndex(where: { $0.key == row.key }) {
        rows[index] = rows[index].joined(with: row)
      } else {
        rows.append(row)
      }
    }
    return rows
  }
}

extension DestinationType {
  fileprivate static func rows<Whole: DestinationSection>(in _: Whole.Type) -> [Setting<Whole>] {
    rows.map { row in row.below("", for: [word], get: { part(of: $0) }, set: { $0.parts[word] = $1 }) }
  }

  /// The destination of this type in the section; nil if something is missing or forbidden, which is reported.
  static func made(of section: some DestinationSection, _ check: SectionCheck) -> Self? {
    let destination = part(of: section)
    return destination.isComplete(check) ? destination : nil
  }

  private static func part(of section: some DestinationSection) -> Self {
    section.parts[word] as? Self ?? Self()
  }
}

extension Settings {
  struct Store: DestinationSection {
    var type = AllStores.types[0].word
    var parts = [String: any SettingsSection]()

    package static let rows: [Setting<Store>] = unitedRows(
      of: AllStores.types.map { $0 }, type: "Where uploaded photos go")
  }

  struct Network: DestinationSection {
    var type = AllNetworks.types[0].word
    var parts = [String: any SettingsSection]()
    var listen = false
    var inbox: InboxID?

    package static let rows: [Setting<Network>] =
      unitedRows(of: AllNetworks.types.map { $0 }, type: "What publishes the messages") + listening

    private static var listening: [Setting<Network>] {
      let types = AllNetworks.types.filter { $0 is any ListeningNetworkType.Type }.map { $0.word }
      return [
        Setting("listen", \.listen, .flag, "Whether photos that others send there are received", for: types),
        Setting(
          "inbox", \.inbox, .optional(.identifier),
          "The inbox that receives what is heard; empty is the standard one", for: types),
      ]
    }
  }

  /// A section of `networks`: a network with an optional store and seal.
  struct FurtherNetwork: SettingsSection {
    var network = Network()
    /// nil means the standard store.
    var store: String?
    /// nil means the standard network's.
    var seal: Seal?

    package static let rows: [Setting<FurtherNetwork>] =
      Network.rows.map { $0.below("", \FurtherNetwork.network) } + [
        Setting("store", \.store, .optional(.name), "The store of its photos; empty is the standard one"),
        Setting("seal", \.seal, .optional(.word), "The encryption of its photos; empty is the standard one"),
      ]
  }
}
