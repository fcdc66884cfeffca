import CCurl

extension HTTPAddress {
  /// The absolute URL of a `Location` header in the answer of `url`, without its fragment; nil if it cannot be
  /// requested.
  package static func redirect(_ location: String, from url: String) -> String? {
    guard location.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), let parts = ccurl_url() else { return nil }
    defer { ccurl_url_free(parts) }
    // A second URL is resolved relative to the first.
    guard ccurl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK,
      ccurl_url_set(parts, CURLUPART_URL, location, 0) == CURLUE_OK,
      ccurl_url_set(parts, CURLUPART_FRAGMENT, nil, 0) == CURLUE_OK
    else { return nil }
    var text: UnsafeMutablePointer<CChar>?
    guard ccurl_url_get(parts, CURLUPART_URL, &text) == CURLUE_OK, let text else { return nil }
    defer { ccurl_free(text) }
    let target = String(cString: text)
    return HTTPAddress(target) == nil ? nil : target
  }
}
