/// The announcement of a photo by others: its place, and the keys if given. Members are those of `Attachment`, but only
/// the URL is required, and nothing is checked. Descriptions leave out the keys.
package struct RemotePhoto: Hashable, Sendable, Codable {
  /// `https://` or `mxc://`, if it may be followed.
  package var url: String
  /// SHA-256 of the object in hexadecimal.
  package var contentDigest: String?
  /// 32 bytes in hexadecimal, as the salt; the nonce has 12.
  package var secret: String?
  package var salt: String?
  package var nonce: String?
  /// Matrix' announcement of the object.
  package var file: EncryptedFile?
  /// The announced size of the object in bytes; some senders announce that of the photo. nil if unknown.
  package var contentLength: Int?
  /// The sender's word, never a path.
  package var filename: String?

  package init(
    url: String, contentDigest: String? = nil, secret: String? = nil, salt: String? = nil, nonce: String? = nil,
    file: EncryptedFile? = nil, contentLength: Int? = nil, filename: String? = nil
  ) {
    self.url = url
    self.contentDigest = contentDigest.map(Self.bare)
    self.secret = secret.map(Self.bare)
    self.salt = salt.map(Self.bare)
    self.nonce = nonce.map(Self.bare)
    self.file = file
    self.contentLength = contentLength.flatMap { $0 > 0 ? $0 : nil }
    self.filename = filename
  }

  /// Removes the `0x` that some senders write.
  private static func bare(_ hex: String) -> String {
    hex.hasPrefix("0x") || hex.hasPrefix("0X") ? String(hex.dropFirst(2)) : hex
  }

  /// The URL's host and port in lower case, without a lookup; empty for a local object.
  package var host: String {
    guard let scheme = url.firstRange(of: "://") else { return "" }
    return url[scheme.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
  }

  private enum CodingKeys: String, CodingKey {
    case url, contentDigest, secret, salt, nonce, file, contentLength, filename
  }

  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    let file = try members.decodeIfPresent(EncryptedFile.self, forKey: .file)
    let url = try members.decodeIfPresent(String.self, forKey: .url)
    guard let url = url ?? file?.url else {
      throw DecodingError.keyNotFound(
        CodingKeys.url, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no url"))
    }
    self.init(
      url: url, contentDigest: try members.decodeIfPresent(String.self, forKey: .contentDigest),
      secret: try members.decodeIfPresent(String.self, forKey: .secret),
      salt: try members.decodeIfPresent(String.self, forKey: .salt),
      nonce: try members.decodeIfPresent(String.self, forKey: .nonce), file: file,
      // An invalid length counts as unknown.
      contentLength: try? members.decodeIfPresent(Int.self, forKey: .contentLength),
      filename: try? members.decodeIfPresent(String.self, forKey: .filename))
  }
}

extension RemotePhoto: CustomStringConvertible, CustomReflectable {
  package var description: String { "remote photo \(contentDigest ?? "without digest")" }
  package var customMirror: Mirror { Mirror(self, children: ["contentDigest": contentDigest ?? ""]) }
}
