import Foundation
import Messages
import Testing

@testable import Networks

@Suite struct OutgoingMembersTests {
  private let noon = Timestamp(milliseconds: 1_772_280_000_250)

  private func line(_ attachment: Messages.Attachment) -> LocalLine {
    LocalLine(outgoing: OutgoingMessage("m", .photo(attachment)), publishedAt: noon)
  }

  @Test func photoUnderMatrixsSealEndsWithItsFileAndColours() throws {
    let file = EncryptedFile(url: "mxc://h/a", key: EncryptedFile.Key(k: "K_-"), iv: "I+/", sha256: "S")
    let attachment = Messages.Attachment(
      url: "mxc://h/a", contentDigest: "d", secret: nil, salt: nil, nonce: nil, scheme: "https://", contentLength: 9,
      filename: "photo.jpg", mimeType: "image/jpeg", width: 3, height: 4, file: file, blurhash: "L#")
    let line = line(attachment)
    let members =
      #""width":3,"height":4,"file":{"url":"mxc://h/a","v":"v2","key":{"kty":"oct","alg":"A256CTR","ext":true,"key_ops":["encrypt","decrypt"],"k":"K_-"},"iv":"I+/","hashes":{"sha256":"S"}},"blurhash":"L#"},"publishedAt":"#
    #expect(String(decoding: line.encoded, as: UTF8.self).contains(members))
    #expect(LocalLine(line.encoded)?.publication.attachment == attachment)
    #expect(try JSONDecoder().decode(Messages.Attachment.self, from: JSONEncoder().encode(attachment)) == attachment)
  }
}
