import Digests
import Messages
import Seals
import TestSupport
import Testing

@testable import Receiving

@Suite struct RemoteSealTests {
  private static let jpeg: [UInt8] = [0xff, 0xd8, 0xff, 0xd9]

  private func sealed(_ seal: any Seal) throws -> (object: [UInt8], photo: RemotePhoto) {
    let file = PhotoFile(
      bytes: Self.jpeg, filename: "photo.jpg", mimeType: "image/jpeg", width: 1, height: 1, blurhash: nil)
    let sealed = try seal.seal(file)
    let attachment = sealed.facts.attachment(at: "https://example.org/x")
    return (
      sealed.bytes,
      RemotePhoto(
        url: attachment.url, contentDigest: attachment.contentDigest, secret: attachment.secret, salt: attachment.salt,
        nonce: attachment.nonce, file: attachment.file, contentLength: attachment.contentLength)
    )
  }

  @Test func sealedPhotosOpen() throws {
    for seal in [XMTPSeal(), MatrixSeal(), NoSeal()] as [any Seal] {
      let (object, photo) = try sealed(seal)
      try photo.checkKeys()
      #expect(try photo.open(object) == Self.jpeg, "\(seal)")
    }
  }

  @Test func everyBitOfAnObjectCounts() throws {
    for seal in [XMTPSeal(), MatrixSeal(), NoSeal()] as [any Seal] {
      let (object, photo) = try sealed(seal)
      for bit in 0..<object.count * 8 {
        var broken = object
        broken[bit / 8] ^= 1 << (bit % 8)
        #expect { try photo.open(broken) } throws: { $0.cause == .digestMismatch }
      }
      #expect { try photo.open(object.dropLast()) } throws: { $0.cause == .digestMismatch }
      #expect { try photo.open([]) } throws: { $0.cause == .digestMismatch }
    }
  }

  @Test func wrongKeysOpenNothing() throws {
    let (object, photo) = try sealed(XMTPSeal())
    for member in [\RemotePhoto.secret, \.salt, \.nonce] {
      var wrong = photo
      wrong[keyPath: member] = String(repeating: "00", count: (photo[keyPath: member]?.count ?? 0) / 2)
      #expect { try wrong.open(object) } throws: { $0.cause == .decryptionFailed }
    }
    let (matrixObject, matrix) = try sealed(MatrixSeal())
    let file = try #require(matrix.file)
    var wrong = matrix
    wrong.file = EncryptedFile(
      url: file.url, key: EncryptedFile.Key(k: [UInt8](repeating: 0, count: 32).unpaddedBase64URL), iv: file.iv,
      sha256: file.hashes["sha256"] ?? "")
    #expect { try wrong.open(matrixObject) } throws: { $0.cause == .decryptionFailed }
  }
}
