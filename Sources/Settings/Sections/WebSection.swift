import SettingKit

extension Settings {
  /// The web page.
  package struct Web: SettingsSection {
    /// Values of `Host` under which the page is served besides its own name.
    package var names: [String] = []
    /// The file of the certificate chain. With it, the page speaks TLS.
    package var certificate: String?
    /// The file of the certificate's private key.
    package var key: String?

    package init() {}

    package static let rows: [Setting<Web>] = [
      Setting("names", \.names, .webNames, "The names, each with its port, under which the page is served"),
      Setting(
        "certificate", \.certificate, .optional(.file), "The file of the page's certificate chain; empty is no TLS"),
      Setting("key", \.key, .optional(.file), "The file of the certificate's private key"),
    ]
  }
}

extension SettingKind where Value == [String] {
  /// Names of the page as browsers write them into `Host`: in lower case, with the port unless it is that of the scheme.
  static var webNames: Self {
    .list(
      expects:
        "names in lower case with their ports, such as `photos.example.org:7377`, with commas between them, or empty",
      accepts: { name in
        guard let match = name.wholeMatch(of: /([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:([0-9]{1,5}))?/) else {
          return false
        }
        return name.utf8.count <= 260 && match.4.map { (1...65535).contains(Int($0) ?? 0) } ?? true
      })
  }
}
