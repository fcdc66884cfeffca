/// Where a photo lies that somebody announced, and what opens it, as far as that was said.
///
/// The members are those of `Attachment`, which is what photospool itself announces; here all but the URL may be
/// missing, and nothing is checked yet. It carries keys, so it describes itself without them.
package struct RemotePhoto: Hashable, Sendable, Codable {
  /// `https://` or `mxc://`, when it is to be followed.
  package var url: String
  /// SHA-256 of the object in hexadecimal.
  package var contentDigest: String?
  /// 32 bytes in hexadecimal, and so are the salt, and the nonce's 12.
  package var secret: String?
  package var salt: String?
  package var nonce: String?
  /// What opens the object as Matrix has it.
  package var file: EncryptedFile?
  /// Bytes of the object, as they were announced. Some senders announce those of the photo. Nil when not known.
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

  /// Some senders write hexadecimal with the `0x` of programmers.
  private static func bare(_ hex: String) -> String {
    hex.hasPrefix("0x") || hex.hasPrefix("0X") ? String(hex.dropFirst(2)) : hex
  }

  /// Whose host keeps it, in lower case and with its port: of the URL's authority, without looking anything up. Empty
  /// for an object of this machine.
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
      // A length that is no number is one that is not known.
      contentLength: try? members.decodeIfPresent(Int.self, forKey: .contentLength),
      filename: try? members.decodeIfPresent(String.self, forKey: .filename))
  }
}

extension RemotePhoto: CustomStringConvertible, CustomReflectable {
  package var description: String { "remote photo \(contentDigest ?? "without digest")" }
  package var customMirror: Mirror { Mirror(self, children: ["contentDigest": contentDigest ?? ""]) }
}
