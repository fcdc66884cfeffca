extension Settings {
  /// The keys whose values are not as in `former`, in the order of the schema, and the sections that people name: no
  /// values, which may tell more than a log should.
  package func changedKeys(since former: Settings) -> [String] {
    var keys = SettingsSchema.settings.filter { $0.text(in: self) != $0.text(in: former) }.map(\.key)
    if Set(furtherStores.keys) != Set(former.furtherStores.keys)
      || stores.dropFirst() != former.stores.dropFirst()
    {
      keys.append("stores")
    }
    if networks.dropFirst() != former.networks.dropFirst() { keys.append("networks") }
    if routes != former.routes { keys.append("routes") }
    return keys
  }
}
