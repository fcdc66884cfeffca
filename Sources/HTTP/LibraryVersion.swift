import CCurl

extension HTTPClient {
  /// Of libcurl and of what it was built with, as libcurl says it.
  package static var libraryVersion: String { String(cString: ccurl_version()) }
}
