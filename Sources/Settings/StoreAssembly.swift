extension Settings.Store {
  /// The store in the words of its type; nil when something is missing, which is told.
  func assembled(_ name: String, _ check: SectionCheck, isStandard: Bool) -> StoreSettings? {
    kind(check, isStandard: isStandard).map { StoreSettings(name: name, kind: $0) }
  }

  private func kind(_ check: SectionCheck, isStandard: Bool) -> StoreSettings.Kind? {
    switch type {
    case .directory:
      // Only one store can have the spool's own directory.
      if !isStandard, check.need("directory", directory) == nil { return nil }
      return .directory(.init(path: directory, url: url))
    case .s3:
      return s3(check).map { .s3($0) }
    case .presigned:
      let token = check.secret("token", file: tokenFile, variable: tokenVariable)
      return check.need("endpoint", endpoint).map { .presigned(.init(endpoint: $0, token: token)) }
    case .matrix:
      let homeserver = check.need("homeserver", homeserver)
      let token = check.needSecret("token", file: tokenFile, variable: tokenVariable)
      guard let homeserver = check.base("homeserver", homeserver), let token else { return nil }
      return .matrix(.init(homeserver: homeserver, token: token))
    }
  }

  private func s3(_ check: SectionCheck) -> StoreSettings.S3? {
    let endpoint = check.base("endpoint", check.need("endpoint", endpoint))
    let bucket = check.need("bucket", bucket)
    let accessKey = check.needSecret("accessKey", file: accessKeyFile, variable: accessKeyVariable)
    let secretKey = check.needSecret("secretKey", file: secretKeyFile, variable: secretKeyVariable)
    let sessionToken = check.secret("sessionToken", file: sessionTokenFile, variable: sessionTokenVariable)
    guard let endpoint, let bucket, let accessKey, let secretKey else { return nil }
    return StoreSettings.S3(
      endpoint: endpoint, region: region, bucket: bucket, addressing: addressing, naming: naming, url: url,
      accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken)
  }
}

extension SectionCheck {
  /// A URL that paths are added to: without a slash at its end, and nil, which is told, when it has a query.
  func base(_ name: String, _ url: String?) -> String? {
    guard let url else { return nil }
    if WebAddress(url)?.hasQuery == true {
      complaints.add(["\(path).\(name)"], "`\(path).\(name)` has a `?`, and paths are added to it; remove that part")
      return nil
    }
    return url.hasSuffix("/") ? String(url.dropLast()) : url
  }
}
