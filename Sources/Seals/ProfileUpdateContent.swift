import Digests
import Messages

/// The announcement of a member's profile in an XMTP group: the Convos app's `profile_update:1.0`. Source: the Convos
/// app's `profile_messages.proto`: `ProfileUpdate` has `name` = 1 and `encrypted_image` = 2, which has `url` = 1,
/// `salt` = 2 and `nonce` = 3. Each update replaces the sender's whole profile.
package enum ProfileUpdateContent {
  /// The encoded content that sets a photo sealed by `GroupImageSeal`.
  ///
  /// - Throws: `SealError.badKeyMaterial` for another photo.
  package static func setting(_ photo: Attachment) throws(SealError) -> [UInt8] {
    guard photo.secret == nil, let salt = photo.salt.flatMap({ [UInt8](hex: $0) }), salt.count == 32,
      let nonce = photo.nonce.flatMap({ [UInt8](hex: $0) }), nonce.count == 12
    else { throw .badKeyMaterial }
    var image = ProtobufWriter()
    image.write(1, photo.url)
    image.write(2, salt)
    image.write(3, nonce)
    var update = ProtobufWriter()
    update.write(2, image.bytes)
    return encoded(update.bytes)
  }

  /// The encoded content that removes the photo: an empty update.
  package static var clearing: [UInt8] { encoded([]) }

  private static func encoded(_ update: [UInt8]) -> [UInt8] {
    EncodedContent(authority: "convos.org", type: "profile_update", majorVersion: 1, content: update).encoded()
  }
}
