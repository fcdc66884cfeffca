extension Settings {
  /// The keys and named sections that differ from `former`, in the order of the schema, without values, which may be
  /// secret.
  package func changedKeys(since former: Settings) -> [String] {
    var keys = SettingsSchema.settings.filter { $0.text(in: self) != $0.text(in: former) }.map(\.key)
    if Set(furtherStores.keys) != Set(former.furtherStores.keys)
      || stores.dropFirst() != former.stores.dropFirst()
    {
      keys.append("stores")
    }
    if networks.dropFirst() != former.networks.dropFirst() { keys.append("networks") }
    if mailRules != former.mailRules { keys.append("mail.accept") }
    if routes != former.routes { keys.append("routes") }
    return keys
  }
}
