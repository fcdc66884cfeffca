import Glibc

/// Which file is the configuration.
package enum SettingsLocation {
  /// What the file is called in each of the directories.
  package static let fileName = "photospool.yaml"

  /// Where the file is looked for when none is named, the first that is there wins: the directories that systemd gives
  /// (`CONFIGURATION_DIRECTORY`), then the user's (`XDG_CONFIG_HOME`, else `~/.config`), then `/etc/photospool`.
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

  /// The file to load: the one that `--config` or else `PHOTOSPOOL_CONFIG` names, which has to exist, or the first
  /// candidate that is there, or none. An empty `PHOTOSPOOL_CONFIG` names none.
  package static func choose(flag: String?, environment: [String: String]) -> (file: String?, isExplicit: Bool) {
    if let flag { return (flag, true) }
    if let named = environment["PHOTOSPOOL_CONFIG"], !named.isEmpty { return (named, true) }
    return (candidates(environment: environment).first { access($0, F_OK) == 0 }, false)
  }
}
