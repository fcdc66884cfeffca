import SettingKit

extension Settings {
  /// The cluster that this host belongs to. Without servers there is none, and nothing of it runs.
  package struct Cluster: SettingsSection {
    package var servers: [String] = []
    /// Seals everything that is passed to the servers. The same on all hosts.
    package var secret = SecretSetting()
    /// The token with which photospool signs on to the servers, if they want one.
    package var token = SecretSetting()
    /// The file of the authority that signed the servers' certificates; nil for those of this computer.
    package var authority: String?
    /// Whether this host publishes; otherwise it only relays.
    package var work = true

    /// The store of type S3 that keeps the bytes of relayed requests; nil for the servers.
    package var bytes: String?

    package init() {}

    package var isConfigured: Bool { !servers.isEmpty }

    package static let rows: [Setting<Cluster>] =
      [
        Setting("servers", \.servers, .clusterServers, "The NATS servers of the cluster; empty is no cluster")
      ] + Setting.secret("secret", \.secret, "the secret that all hosts share, at least 32 characters")
      + Setting.secret("token", \.token, "the token for the servers, if they want one")
      + [
        Setting(
          "authority", \.authority, .optional(.file),
          "The file of the authority that signed the servers' certificates; empty is this computer's"),
        Setting("work", \.work, .flag, "Whether this host publishes, or only passes requests on"),
        Setting(
          "bytes", \.bytes, .optional(.name),
          "The S3 store that keeps photos of relayed requests until these end; empty is the servers"),
      ]
  }
}

extension SettingKind where Value == [String] {
  /// Addresses of NATS servers.
  static var clusterServers: Self {
    .list(
      expects:
        "addresses such as `tls://queue1.example.org:4222` or `nats://127.0.0.1:4222`, with commas between them, or empty",
      accepts: { text in
        guard
          let match = text.wholeMatch(
            of: /(nats|tls):\/\/([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9a-fA-F:.]+\])(:([0-9]{1,5}))?/)
        else { return false }
        return text.utf8.count <= 270 && match.4.map { (1...65535).contains(Int($0) ?? 0) } ?? true
      })
  }
}
