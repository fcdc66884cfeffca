import Messages

/// Settings of destinations: addresses, programs and secrets.
extension SettingKind where Value == String {
  package static func webURL(_ example: String) -> Self {
    Self(
      expects: "a URL such as `\(example)`, without user and password", hides: { $0.contains("@") },
      accepts: { WebAddress($0) != nil })
  }

  package static var proxy: Self {
    Self(
      expects: "the URL of a proxy such as `http://proxy.example.org:3128`, without user and password",
      hides: { $0.contains("@") },
      accepts: { WebAddress($0, schemes: ["http", "https", "socks5", "socks5h"]) != nil })
  }

  package static var hostAndPort: Self {
    Self(
      expects: "a host and a port such as `grpc.example.org:443`",
      accepts: { text in WebAddress("https://\(text)").map { text.hasSuffix(":\($0.port ?? 0)") } ?? false })
  }

  /// A file that is read, or given to a program that reads it.
  package static var file: Self {
    Self(
      expects: "the path of a file, without control characters and not beginning with `~`", isFile: true,
      accepts: { !$0.isEmpty && !$0.hasPrefix("~") && !$0.hasSuffix("/") && !hasControlCharacter($0) })
  }

  /// A file for node_exporter, which requires this ending.
  package static var textfile: Self {
    Self(
      expects: "the absolute path of a file that ends with `.prom`, such as `/var/lib/node_exporter/photospool.prom`",
      accepts: {
        $0.hasPrefix("/") && $0.hasSuffix(".prom") && !$0.hasSuffix("/.prom") && !hasControlCharacter($0)
      })
  }

  /// The environment variable of a secret. Our own names are settings.
  package static var variable: Self {
    Self(
      expects: "the name of an environment variable of letters, digits and `_`, not beginning with `PHOTOSPOOL_`",
      hides: { !$0.isEmpty && !$0.hasPrefix("PHOTOSPOOL_") },
      accepts: { $0.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil && !$0.hasPrefix("PHOTOSPOOL_") })
  }

  package static var program: Self {
    Self(
      expects: "the absolute path of a program, such as `/usr/local/bin/post-photo`",
      accepts: { $0.hasPrefix("/") && !$0.hasSuffix("/") && !hasControlCharacter($0) })
  }

  /// The name of a store or a network.
  package static var name: Self {
    Self(expects: sectionNameRule, accepts: isSectionName)
  }
}

package let sectionNameRule = "a word of at most 32 of `a-z`, `0-9` and `-`, beginning with a letter"

package func isSectionName(_ text: String) -> Bool { text.wholeMatch(of: /[a-z][a-z0-9-]{0,31}/) != nil }
