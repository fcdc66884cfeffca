import Digests
import FoundationEssentials
import HTTP
import Matrix
import Messages
import Secrets

@testable import Ledgers
@testable import Receiving

extension FuzzTarget {
  static let receiving: [FuzzTarget] = [attachment, addresses, text]

  static let attachment = FuzzTarget(
    "attachment",
    words: [
      "{", "}", "\"", ":", ",", "url", "file", "content", "msgtype", "m.image", "body", "filename", "info", "size",
      "key",
      "k", "iv", "hashes", "sha256", "v2", "A256CTR", "contentDigest", "secret", "salt", "nonce", "contentLength",
      "/", "\\", "\u{301}", "..", "mxc://", "https://", "xmtp.org", "remoteStaticAttachment",
    ]
  ) { input throws(BrokenProperty) in
    let photos: [RemotePhoto]
    do throws(DeliveryError) { photos = try AttachmentReader.read(input).photos } catch {
      try holdPlain(error.sentence)
      try hold(error.cause.disposition == .fail, "what is no attachment is tried again")
      return
    }
    try hold(1...AttachmentReader.mostPhotos ~= photos.count, "it has \(photos.count) photos")
    for photo in photos {
      try hold((try? RemotePhoto(json: photo.json())) == photo, "the ledger keeps another photo")
      try holdName(photo.safeFilename)
      _ = try? photo.open(Array("object".utf8))
      if photo.url.hasPrefix("mxc://") { try holdDownload(photo.url) }
    }
  }

  /// Checks that a file name cannot leave its directory, hide, or harm a terminal.
  private static func holdName(_ name: String) throws(BrokenProperty) {
    try holdPlain(name)
    try hold(1...255 ~= name.utf8.count, "the file name has \(name.utf8.count) bytes")
    try hold(!name.utf8.contains { "/\\".utf8.contains($0) }, "the file name \(name) is a path")
    try hold(name.utf8.first != UInt8(ascii: "."), "the file name \(name) is hidden")
  }

  private static func holdDownload(_ url: String) throws(BrokenProperty) {
    let account = MatrixAccount(homeserver: "https://matrix.example.org", token: Secret("token"))
    guard let (target, _) = account.download(url) else { return }
    let path = HTTPAddress(target)?.path ?? ""
    try hold(
      path.hasPrefix("/_matrix/client/v1/media/download/") && HTTPAddress(target)?.query == nil
        && !path.split(separator: "/").contains { $0 == "." || $0 == ".." }, "the homeserver is asked for \(target)")
  }

  static let addresses = FuzzTarget(
    "addresses",
    words: [
      "https://", "http://", "//", "..", "@", ":", "?", "#", "%2e", "[", "]", "::ffff:", "127.0.0.1", "%", "mxc://",
    ]
  ) { input throws(BrokenProperty) in
    let text = String(decoding: input, as: UTF8.self)
    if let address = HTTPAddress(text) {
      try hold(["http", "https"].contains(address.scheme) && !address.host.isEmpty, "the address is none")
      try hold(address.path.hasPrefix("/"), "the path is none")
      try hold(address.port.map { 0...65_535 ~= $0 } ?? true, "the port is none")
    }
    if let target = HTTPAddress.redirect(text, from: "https://example.org/a/b?c") {
      try hold(HTTPAddress(target) != nil && !target.contains("#"), "a redirect leads to \(target)")
    }
    _ = IPAddress(text)?.isPublic
    try holdDownload(text)
  }

  static let text = FuzzTarget("text", words: ["=", "-", "_", "+", "/", "T", "Z", ".000Z", "~", "%", "0x"]) {
    input throws(BrokenProperty) in
    try hold([UInt8](hex: input.hex) == input, "hexadecimal is another one")
    try hold([UInt8](base64: input.base64) == input, "base64 is another one")
    try hold([UInt8](base64: input.unpaddedBase64URL) == input, "base64 of URLs is another one")
    let text = String(decoding: input, as: UTF8.self)
    _ = [UInt8](hex: text)
    _ = [UInt8](base64: text)
    if let moment = Timestamp(text) {
      try hold(Timestamp(moment.description) == moment, "\(moment) is another moment")
    }
    if let conversation = try? ConversationID(text) {
      let name = conversation.fileName
      try hold(name.utf8.count <= 200 && !name.contains("/") && !name.hasPrefix("."), "the name \(name) is none")
    }
  }
}
