import Messages

extension OutgoingMessage {
  /// The message as JSON for programs: a line of the `local` network without its time, the `data` of a webhook, the
  /// input of `exec`. The order of members is fixed, names are never renamed once released, and members that do not
  /// apply are absent.
  var members: JSONObjectText {
    [
      "message": message.text, "request": request, "conversation": content.kind.isOfProfile ? nil : address.text,
      "inbox": inbox.text, "kind": content.kind.rawValue, "attachment": content.attachment?.members,
      "text": content.text,
    ]
  }
}

extension OutgoingMessage.Content {
  var text: String? { if case .text(let text) = self { text } else { nil } }
}

extension Attachment {
  var members: JSONObjectText {
    [
      "url": url, "contentDigest": contentDigest, "secret": secret, "salt": salt, "nonce": nonce, "scheme": scheme,
      "contentLength": contentLength, "filename": filename, "mimeType": mimeType, "width": width, "height": height,
      "file": file?.members, "blurhash": blurhash,
    ]
  }
}

extension EncryptedFile {
  var members: JSONObjectText {
    let key: JSONObjectText = [
      "kty": self.key.kty, "alg": self.key.alg, "ext": self.key.ext, "key_ops": self.key.operations, "k": self.key.k,
    ]
    var sums: JSONObjectText = [:]
    for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) { sums.add(name, hash) }
    return ["url": url, "v": v, "key": key, "iv": iv, "hashes": sums]
  }
}
