import Digests
import Messages

/// The photos in an XMTP message: `remoteStaticAttachment:1.0`, or several in one `multiRemoteStaticAttachment:1.0`.
/// Source: libxmtp's content type specification. As it says, the scheme is ignored, and a missing, zero or negative
/// length counts as unknown.
package enum RemoteAttachmentContent {
  /// - Throws: `.notAnAttachment` for any other content, and without URL, digest or keys.
  package static func photos(decoding bytes: [UInt8]) throws(SealError) -> [RemotePhoto] {
    let content = try EncodedContent(decoding: bytes)
    guard content.authority == "xmtp.org", content.majorVersion == 1 else { throw .notAnAttachment }
    switch content.type {
    case "remoteStaticAttachment":
      guard let url = String(validating: content.content, as: UTF8.self) else { throw .notAnAttachment }
      let parameters = content.parameters
      return [
        RemotePhoto(
          url: url, contentDigest: parameters["contentDigest"], secret: parameters["secret"],
          salt: parameters["salt"], nonce: parameters["nonce"],
          contentLength: parameters["contentLength"].flatMap { Int($0) }, filename: parameters["filename"])
      ]
    case "multiRemoteStaticAttachment": return try several(content.content)
    default: throw .notAnAttachment
    }
  }

  private static func several(_ bytes: [UInt8]) throws(SealError) -> [RemotePhoto] {
    var reader = ProtobufReader(bytes[...])
    var photos = [RemotePhoto]()
    while let (field, value) = try reader.next() {
      if field == 1 { photos.append(try one(value.asBytes())) }
    }
    if photos.isEmpty { throw .notAnAttachment }
    return photos
  }

  private static func one(_ bytes: ArraySlice<UInt8>) throws(SealError) -> RemotePhoto {
    var reader = ProtobufReader(bytes)
    var photo = RemotePhoto(url: "")
    while let (field, value) = try reader.next() {
      switch field {
      case 1: photo.contentDigest = try value.asText()
      case 2: photo.secret = Array(try value.asBytes()).hex
      case 3: photo.nonce = Array(try value.asBytes()).hex
      case 4: photo.salt = Array(try value.asBytes()).hex
      case 6: photo.url = try value.asText()
      case 7:
        let length = Int(clamping: try value.asNumber())
        // Some senders write an unknown length as zero.
        if length > 0 { photo.contentLength = length }
      case 8: photo.filename = try value.asText()
      default: break
      }
    }
    return photo
  }
}
