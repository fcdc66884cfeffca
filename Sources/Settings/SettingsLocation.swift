import Glibc

/// The place of the configuration file.
package enum SettingsLocation {
  package static let fileName = "photospool.yaml"

  /// The places to search, in order: the directories of systemd (`CONFIGURATION_DIRECTORY`), the user's
  /// (`XDG_CONFIG_HOME`, or `~/.config`), and `/etc/photospool`.
  package static func candidates(environment: [String: String]) -> [String] {
    var directories = environment["CONFIGURATION_DIRECTORY"]?.split(separator: ":").map(String.init) ?? []
    if let home = environment["XDG_CONFIG_HOME"], home.hasPrefix("/") {
      directories.append("\(home)/photospool")
    } else if let home = environment["HOME"], home.hasPrefix("/") {
      directories.append("\(home)/.config/photospool")
    }
    directories.append("/etc/photospool")
    return directories.map { "\($0)/\(fileName)" }
  }

  /// The file to load: the one of `--config` or else `PHOTOSPOOL_CONFIG`, which must exist, or the first existing
  /// candidate, if any. An empty `PHOTOSPOOL_CONFIG` is ignored.
  package static func choose(flag: String?, environment: [String: String]) -> (file: String?, isExplicit: Bool) {
    if let flag { return (flag, true) }
    if let named = environment["PHOTOSPOOL_CONFIG"], !named.isEmpty { return (named, true) }
    return (candidates(environment: environment).first { access($0, F_OK) == 0 }, false)
  }
}
