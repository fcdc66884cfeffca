import Testing

@testable import Settings

struct SchemaTests {
  @Test("every property of the settings has one key")
  func everyPropertyHasAKey() {
    var properties = [String]()
    collect(Settings(), path: [], into: &properties)
    #expect(SettingsSchema.settings.map(\.key).sorted() == properties.sorted())
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
        #expect(settings.store == Settings.Store() && settings.network == Settings.Network())
        #expect(settings.furtherStores.keys.elementsEqual(family == .stores ? ["a"] : []))
        #expect(settings.furtherNetworks.keys.elementsEqual(family == .networks ? ["a"] : []))
      }
    }
  }

  @Test("the types that a setting is for are types of its section")
  func typesOfSettings() {
    for setting in Settings.Store.rows {
      #expect(setting.types.allSatisfy { Settings.Store.Kind(rawValue: $0) != nil })
    }
    for setting in Settings.Network.rows {
      #expect(setting.types.allSatisfy { Settings.Network.Kind(rawValue: $0) != nil })
    }
  }

  @Test("every setting has a help of one line")
  func help() {
    for setting in SettingsSchema.settings + SectionFamily.networks.rows("a") {
      #expect(!setting.help.isEmpty && setting.help.count <= 100 && !setting.help.contains("\n"))
    }
  }

  @Test("every default is a value that its own setting takes")
  func defaultsAreValid() {
    for setting in SettingsSchema.settings {
      #expect(setting.complaint(about: setting.defaultText) == nil)
      var settings = Settings()
      #expect(setting.assign(setting.defaultText, in: &settings))
      #expect(settings == Settings())
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

  /// The dotted names of all properties that are values and not groups of them.
  private func collect(_ value: Any, path: [String], into properties: inout [String]) {
    let groups: [Any.Type] = [
      Settings.self, Settings.Spool.self, Settings.Log.self, Settings.Intake.self, Settings.Delivery.self,
      Settings.Backoff.self, Settings.Photo.self, Settings.Cache.self, Settings.Janitor.self, Settings.Receiving.self,
      Settings.Store.self,
      Settings.Network.self, HTTPSettings.self, Settings.Metrics.self, Settings.Profile.self, Settings.Hooks.self,
    ]
    // What is made of other properties, or has sections of its own.
    let others = ["origins", "stores", "networks", "routes", "furtherStores", "furtherNetworks"]
    guard groups.contains(where: { $0 == type(of: value) }) else {
      properties.append(path.joined(separator: "."))
      return
    }
    for child in Mirror(reflecting: value).children {
      guard let label = child.label, !others.contains(label) else { continue }
      collect(child.value, path: path + [label], into: &properties)
    }
  }
}
