import Testing

@testable import Settings

struct SchemaTests {
  @Test("every property of the settings has one key")
  func everyPropertyHasAKey() {
    var properties = [String]()
    collect(Settings(), path: [], into: &properties)
    #expect(SettingsSchema.settings.map(\.key).sorted() == properties.sorted())
  }

  @Test("every setting has a help of one line")
  func help() {
    for setting in SettingsSchema.settings {
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
      Settings.Backoff.self, Settings.Photo.self, Settings.Store.self, Settings.Network.self,
    ]
    guard groups.contains(where: { $0 == type(of: value) }) else {
      properties.append(path.joined(separator: "."))
      return
    }
    for child in Mirror(reflecting: value).children {
      guard let label = child.label, label != "origins" else { continue }
      collect(child.value, path: path + [label], into: &properties)
    }
  }
}
