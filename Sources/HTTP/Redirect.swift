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
      ccurl_url_set(parts, CURLUPART_FRAGMENT, nil, 0) == CURLUE_OK, let target = text(CURLUPART_URL, of: parts)
    else { return nil }
    return HTTPAddress(target) == nil ? nil : target
  }
}
