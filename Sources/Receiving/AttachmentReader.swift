import FoundationEssentials
import Messages
import Seals

/// Parses the `attachment` of a bridge by its content: JSON as from the `local` network, a Matrix event or its content,
/// or an encoded XMTP content. It is untrusted.
enum AttachmentReader {
  static let mostPhotos = 100

  struct Announcement {
    /// At least one, each with a URL and complete keys.
    let photos: [RemotePhoto]
    /// The sender in a Matrix event; nil for other forms and invalid names.
    let sender: SenderID?
  }

  /// Parses an attachment.
  ///
  /// - Throws: `.notAnAttachment` or `.malformedRequest` with a sentence that begins with `attachment`.
  static func read(_ bytes: [UInt8]) throws(DeliveryError) -> Announcement {
    let announcement = bytes.first { $0 > 0x20 } == UInt8(ascii: "{") ? try json(bytes) : try xmtp(bytes)
    let photos = announcement.photos
    if photos.count > mostPhotos {
      throw DeliveryError(.notAnAttachment, "attachment: it has \(photos.count) photos; the limit is \(mostPhotos)")
    }
    for photo in photos { try photo.checkKeys() }
    return announcement
  }

  private static func xmtp(_ bytes: [UInt8]) throws(DeliveryError) -> Announcement {
    do { return Announcement(photos: try RemoteAttachmentContent.photos(decoding: bytes), sender: nil) } catch {
      throw DeliveryError(
        .notAnAttachment,
        "attachment: it is neither JSON nor an XMTP remote attachment; drop what the network delivered")
    }
  }

  private static func json(_ bytes: [UInt8]) throws(DeliveryError) -> Announcement {
    let document: Document
    do { document = try JSONDecoder().decode(Document.self, from: Data(bytes)) } catch {
      throw DeliveryError(.malformedRequest, "attachment: this JSON has members of other types than an attachment has")
    }
    guard let photo = document.photo else {
      throw DeliveryError(.notAnAttachment, "attachment: this JSON announces no photo: it has no url and no file")
    }
    return Announcement(photos: [photo], sender: document.sender.flatMap { try? SenderID($0) })
  }

  /// One of the JSON forms.
  private struct Document: Decodable {
    let photo: RemotePhoto?
    /// Only for events; other forms may use the word `sender` for anything.
    private(set) var sender: String?

    private enum CodingKeys: String, CodingKey {
      case content, sender, msgtype, type, url, file, filename, body, info
    }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      if members.contains(.content) {
        // The content of a Matrix event is the announcement.
        photo = try members.decode(Document.self, forKey: .content).photo
        sender = try? members.decode(String.self, forKey: .sender)
      } else if let type = try? members.decode(String.self, forKey: .msgtype) {
        guard type == "m.image" || type == "m.file" || type == "m.sticker" else {
          photo = nil
          return
        }
        let file = try members.decodeIfPresent(EncryptedFile.self, forKey: .file)
        let url = try file?.url ?? members.decodeIfPresent(String.self, forKey: .url)
        let name =
          (try? members.decode(String.self, forKey: .filename)) ?? (try? members.decode(String.self, forKey: .body))
        let info = try? members.decode(Info.self, forKey: .info)
        photo = url.map { RemotePhoto(url: $0, file: file, contentLength: info?.size, filename: name) }
      } else if members.contains(.url) || members.contains(.file) {
        photo = try RemotePhoto(from: decoder)
      } else {
        photo = nil
      }
    }

    struct Info: Decodable {
      let size: Int?
    }
  }
}
