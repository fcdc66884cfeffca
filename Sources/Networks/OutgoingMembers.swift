import Messages

extension OutgoingMessage {
  /// The message as JSON for programs: a line of the `local` network without its time, the `data` of a webhook, the
  /// input of `exec`. The order of members is fixed, names are never renamed once released, and members that do not
  /// apply are absent.
  var members: JSONObjectText {
    var members = JSONObjectText()
    members.add("message", message.text)
    members.add("request", request)
    if !content.kind.isOfProfile { members.add("conversation", address.text) }
    members.add("inbox", inbox.text)
    members.add("kind", content.kind.rawValue)
    switch content {
    case .photo(let attachment), .profile(let attachment): members.add("attachment", JSONObjectText(attachment))
    case .text(let text): members.add("text", text)
    case .profileRemoval: break
    }
    return members
  }
}

extension JSONObjectText {
  init(_ attachment: Attachment) {
    self.init()
    add("url", attachment.url)
    add("contentDigest", attachment.contentDigest)
    if let secret = attachment.secret { add("secret", secret) }
    if let salt = attachment.salt { add("salt", salt) }
    if let nonce = attachment.nonce { add("nonce", nonce) }
    add("scheme", attachment.scheme)
    add("contentLength", attachment.contentLength)
    add("filename", attachment.filename)
    add("mimeType", attachment.mimeType)
    add("width", attachment.width)
    add("height", attachment.height)
    if let file = attachment.file { add("file", JSONObjectText(file)) }
    if let blurhash = attachment.blurhash { add("blurhash", blurhash) }
  }

  init(_ file: EncryptedFile) {
    self.init()
    add("url", file.url)
    add("v", file.v)
    var key = JSONObjectText()
    key.add("kty", file.key.kty)
    key.add("alg", file.key.alg)
    key.add("ext", file.key.ext)
    key.add("key_ops", file.key.operations)
    key.add("k", file.key.k)
    add("key", key)
    add("iv", file.iv)
    var hashes = JSONObjectText()
    for (name, hash) in file.hashes.sorted(by: { $0.key < $1.key }) { hashes.add(name, hash) }
    add("hashes", hashes)
  }
}
