import Digests
import Messages

/// The content of a message's event: `m.image` or `m.text`. Two members are ours: `photospool.message`, by which a
/// message is found again, and `photospool.digest`, the SHA-256 of a photo's object.
enum MatrixContent {
  /// The size limit of a content. An event has 65,536 bytes, some of them the homeserver's: ids, earlier events,
  /// signatures.
  static let most = 63 << 10

  static func checkLength(_ bytes: Int) throws(DeliveryError) {
    if bytes <= most { return }
    throw DeliveryError(
      .rejected, "the message has \(bytes) bytes as a Matrix event, and \(most) at most fit; shorten the text")
  }

  /// The most bytes that the encrypted content has.
  ///
  /// - Parameter room: the room's id, escaped or not.
  static func encryptedLength(_ content: [UInt8], in room: String) -> Int {
    // With the room's id and the type around it, filled up to blocks of 16 bytes.
    let blocks = (content.count + room.utf8.count + 64) / 16 + 1
    // Index, authentication code and signature; then base64, the session's name and our device's.
    return (blocks * 16 + 96) * 4 / 3 + 256
  }

  /// - Throws: `.configError` for a photo that no Matrix client can open.
  static func encoded(_ outgoing: OutgoingMessage) throws(DeliveryError) -> [UInt8] {
    var content: JSONObjectText
    switch outgoing.content {
    case .text(let text): content = ["msgtype": "m.text", "body": text]
    case .photo(let photo):
      guard photo.url.hasPrefix("mxc://") else {
        throw DeliveryError(
          .configError, "Matrix rooms take photos only from a homeserver's media; give them a store of type `matrix`")
      }
      guard photo.secret == nil else {
        throw DeliveryError(.configError, "Matrix clients cannot open the seal `xmtp`; set `seal: matrix` for them")
      }
      // The seal adds nothing to the size.
      let info: JSONObjectText = [
        "w": photo.width, "h": photo.height, "mimetype": photo.mimeType, "size": photo.contentLength,
        "xyz.amorgan.blurhash": photo.blurhash,
      ]
      content = [
        "msgtype": "m.image", "body": photo.filename, "filename": photo.filename, "file": photo.file?.members,
        "url": photo.file == nil ? photo.url : nil, "info": info, "photospool.digest": photo.contentDigest,
      ]
    // These change the account's profile.
    case .profile, .profileRemoval: content = [:]
    }
    content.add("photospool.message", outgoing.message.text)
    return content.bytes
  }
}

/// An event of ours in a room.
struct MatrixEvent: Decodable {
  struct Content: Decodable {
    struct Info: Decodable {
      let w: Int
      let h: Int
      let mimetype: String
      let size: Int
      let blurhash: String?

      private enum CodingKeys: String, CodingKey {
        case w, h, mimetype, size
        case blurhash = "xyz.amorgan.blurhash"
      }
    }

    /// The SHA-256 of an encrypted event's ciphertext.
    var mark: String? { ciphertext.map { SHA256Digest(of: Array($0.utf8)).hex } }

    let message: String?
    let digest: String?
    let ciphertext: String?
    let filename: String?
    let url: String?
    let file: EncryptedFile?
    let info: Info?

    private enum CodingKeys: String, CodingKey {
      case filename, url, file, info, ciphertext
      case message = "photospool.message"
      case digest = "photospool.digest"
    }
  }

  let id: String
  let sender: String
  let sentAt: Int64
  /// nil if it is not ours or was redacted.
  let content: Content?

  private enum CodingKeys: String, CodingKey {
    case sender, content
    case id = "event_id"
    case sentAt = "origin_server_ts"
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    id = try members.decode(String.self, forKey: .id)
    sender = try members.decode(String.self, forKey: .sender)
    sentAt = try members.decode(Int64.self, forKey: .sentAt)
    // Other clients may write anything.
    content = try? members.decode(Content.self, forKey: .content)
  }

  /// The published attachment; nil for a text.
  var attachment: Attachment? {
    guard let content, let info = content.info, let digest = content.digest, let filename = content.filename,
      let url = content.file?.url ?? content.url
    else { return nil }
    return Attachment(
      url: url, contentDigest: digest, secret: nil, salt: nil, nonce: nil, scheme: "https://",
      contentLength: info.size, filename: filename, mimeType: info.mimetype, width: info.w, height: info.h,
      file: content.file, blurhash: info.blurhash)
  }

  var publication: Publication {
    Publication(publishedAt: Timestamp(milliseconds: sentAt), remoteID: id, attachment: attachment)
  }
}
