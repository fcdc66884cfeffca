import CCurl

extension HTTPClient {
  /// The versions of libcurl and its libraries.
  package static var libraryVersion: String { String(cString: ccurl_version()) }
}
