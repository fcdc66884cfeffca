extension Settings.Network {
  /// The network in the words of its type; nil when something is missing or forbidden, which is told.
  func assembled(_ check: SectionCheck) -> NetworkSettings.Kind? {
    switch type {
    case .local: return .local
    case .matrix:
      let homeserver = check.base("homeserver", check.need("homeserver", homeserver))
      let token = check.needSecret("token", file: tokenFile, variable: tokenVariable)
      guard let homeserver, let token else { return nil }
      return .matrix(.init(homeserver: homeserver, token: token))
    case .webhook:
      let url = safe(check.need("url", url), check)
      let secret = check.needSecret("secret", file: secretFile, variable: secretVariable)
      guard let url, let secret else { return nil }
      return .webhook(.init(url: url, secret: secret, allowsPrivate: allowPrivate))
    case .exec:
      return check.need("program", program).map { .exec(.init(program: $0, timeout: timeout)) }
    case .xmtp:
      let endpoint = check.need("endpoint", endpoint)
      let keyFile = check.need("keyFile", keyFile)
      guard let endpoint, let keyFile else { return nil }
      return .xmtp(
        .init(endpoint: endpoint, isInsecure: insecure, keyFile: keyFile, program: program, python: python))
    }
  }

  /// The URL of a webhook, unless messages would go to others unencrypted.
  private func safe(_ url: String?, _ check: SectionCheck) -> String? {
    guard let url, let address = WebAddress(url), address.isPlain, !address.isLoopback, !allowPrivate else {
      return url
    }
    check.complaints.add(
      ["\(check.path).url"],
      "`\(check.path).url` has to begin with `https://`; plain `http://` goes only to this computer, "
        + "or anywhere with `allowPrivate: true`")
    return nil
  }
}
