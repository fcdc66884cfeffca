import Networks
import SettingKit
import Stores
import Testing

@testable import Settings

struct SchemaTests {
  @Test("every setting has a property of its own")
  func everySettingHasAProperty() {
    let texts = [
      "true", "4s", "17", "30kB", "1GB", "/srv/a.prom", "https://example.org", "a", "{message}", "a.org:1", "photos",
      "nats://a.org",
      #"{"a":1}"#,
    ]
    var settings = Settings()
    for setting in SettingsSchema.settings {
      let text = (setting.words + texts).first { setting.complaint(about: $0) == nil && $0 != setting.defaultText }
      let before = settings
      #expect(setting.assign(text ?? "", in: &settings))
      let changed = SettingsSchema.settings.filter { $0.text(in: settings) != $0.text(in: before) }
      #expect(changed.map(\.key) == [setting.key])
    }
  }

  @Test("every property of a section is set by a setting")
  func everyPropertyHasASetting() {
    // Properties that hold settings.
    let groups = ["limits", "programs", "client", "parts", "secret", "token"]
    for case (let section?, let value as any SettingsSection) in Mirror(reflecting: Settings()).children {
      for property in Mirror(reflecting: value).children.compactMap(\.label) where !groups.contains(property) {
        #expect(SettingsSchema.names(below: section).contains(property), "\(section).\(property)")
      }
    }
  }

  @Test(
    "a named network has the settings of the standard one, a store and a seal; a named store those of the standard one")
  func namedSections() {
    func keys(_ family: SectionFamily) -> [String] {
      family.rows("a").map { String($0.key.dropFirst("\(family).a.".count)) }
    }
    func standard(_ family: SectionFamily) -> [String] {
      family.standardRows.map { String($0.key.dropFirst("\(family.noun).".count)) }
    }
    #expect(keys(.stores) == standard(.stores))
    #expect(keys(.networks) == standard(.networks) + ["store", "seal"])
  }

  @Test("a setting of a named section sets it in its own section alone")
  func namedSectionsAreApart() {
    for family in SectionFamily.allCases {
      for setting in family.rows("a") {
        var settings = Settings()
        #expect(setting.assign(setting.defaultText, in: &settings))
        #expect(settings.stores == Settings().stores && settings.networks == Settings().networks)
        #expect(settings.furtherStores.keys.elementsEqual(family == .stores ? ["a"] : []))
        #expect(settings.furtherNetworks.keys.elementsEqual(family == .networks ? ["a"] : []))
      }
    }
  }

  @Test("the types that a setting is for are types of its section")
  func typesOfSettings() {
    let (stores, networks) = (AllStores.types.map { $0.word }, AllNetworks.types.map { $0.word })
    for setting in Settings.Store.rows { #expect(Set(setting.types).isSubset(of: stores)) }
    for setting in Settings.Network.rows { #expect(Set(setting.types).isSubset(of: networks)) }
  }

  @Test("no two types have the same word, and a setting that two types share is the same in both")
  func sharedSettings() {
    for types in [AllStores.types.map { $0 }, AllNetworks.types.map { $0 }] as [[any DestinationType.Type]] {
      #expect(Set(types.map { $0.word }).count == types.count)
      var known = [String: [String]]()
      for row in types.flatMap(described) { #expect(known.updateValue(row, forKey: row[0]) ?? row == row) }
    }
  }

  private func described(_ type: any DestinationType.Type) -> [[String]] {
    func rows<T: DestinationType>(_: T.Type) -> [[String]] {
      T.rows.map { [$0.key, $0.expects, $0.defaultText, $0.help] }
    }
    return rows(type)
  }

  @Test("every setting has a help of one line")
  func help() {
    for setting in SettingsSchema.settings + SectionFamily.networks.rows("a") {
      #expect(!setting.help.isEmpty && setting.help.count <= 100 && !setting.help.contains("\n"))
    }
  }

  @Test("a text that a setting does not take changes nothing")
  func refusedTextChangesNothing() {
    for setting in SettingsSchema.settings {
      var settings = Settings()
      #expect(!setting.assign("\u{1}", in: &settings))
      #expect(settings == Settings())
    }
  }

  @Test("a key is one of words in camel case, and no setting is also a section")
  func keys() {
    let keys = SettingsSchema.settings.map(\.key)
    for key in keys {
      #expect(key.wholeMatch(of: /[a-z]+([A-Z][a-z]+)*(\.[a-z]+([A-Z][a-z]+)*)*/) != nil)
      #expect(!keys.contains { $0.hasPrefix(key + ".") })
    }
  }
}
