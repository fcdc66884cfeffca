import Digests
import Messages
import Photos
import Seals

/// The seal of an announced photo.
extension RemotePhoto {
  /// Checks URL, digest and keys before the download.
  ///
  /// - Throws: `.malformedRequest`.
  func checkKeys() throws(DeliveryError) {
    func check(_ holds: Bool, _ sentence: String) throws(DeliveryError) {
      if !holds { throw DeliveryError(.malformedRequest, "attachment: \(sentence)") }
    }
    func has(_ count: Int, _ text: String?) -> Bool { text.flatMap { [UInt8](hex: $0) }?.count == count }
    try check(1...8192 ~= url.utf8.count && url.utf8.allSatisfy { 0x21...0x7e ~= $0 }, "the url is none")
    if contentDigest != nil { try check(has(32, contentDigest), "the digest is not 64 hexadecimal characters") }
    if let file {
      try check([UInt8](base64: file.key.k)?.count == 32, "the key does not have 32 bytes")
      try check([UInt8](base64: file.iv)?.count == 16, "the iv does not have 16 bytes")
      try check(
        file.hashes["sha256"].flatMap { [UInt8](base64: $0) }?.count == 32, "the SHA-256 of the file is missing")
      try check(file.v == "v2" && file.key.alg == "A256CTR", "the file is not sealed as version 2 of Matrix has it")
    } else if secret != nil || salt != nil || nonce != nil {
      try check(contentDigest != nil, "the digest is missing")
      try check(has(32, secret), "the secret does not have 32 bytes")
      try check(has(32, salt), "the salt does not have 32 bytes")
      try check(has(12, nonce), "the nonce does not have 12 bytes")
    }
  }

  /// Whether the object can be verified.
  var hasDigest: Bool { contentDigest != nil || file != nil }

  /// Opens the object, after checking its digest.
  ///
  /// - Throws: `.digestMismatch`, `.decryptionFailed`, `.notAnAttachment`, `.tooLarge`.
  func open(_ object: [UInt8]) throws(DeliveryError) -> [UInt8] {
    let digest = contentDigest.flatMap { SHA256Digest(hex: $0) }
    if let digest, SHA256Digest(of: object) != digest { throw Self.error(.digestMismatch) }
    do { return try unsealed(object, digest) } catch { throw Self.error(error) }
  }

  private func unsealed(_ object: [UInt8], _ digest: SHA256Digest?) throws(SealError) -> [UInt8] {
    if let file {
      let bytes = try MatrixSeal.open(object, file)
      // The hash covers neither key nor counter; wrong ones give arbitrary bytes.
      guard PhotoFormat(of: bytes) != nil else { throw .decryptionFailed }
      return bytes
    }
    guard let secret = secret.flatMap({ [UInt8](hex: $0) }), let salt = salt.flatMap({ [UInt8](hex: $0) }),
      let nonce = nonce.flatMap({ [UInt8](hex: $0) }), let digest
    else { return object }
    return try XMTPSeal.open(object, digest: digest, secret: secret, salt: salt, nonce: nonce).bytes
  }

  private static func error(_ error: SealError) -> DeliveryError {
    let cause: Cause =
      switch error {
      case .digestMismatch: .digestMismatch
      case .badKeyMaterial, .decryptionFailed: .decryptionFailed
      case .notAnAttachment, .compressed: .notAnAttachment
      case .tooLarge: .tooLarge
      case .unavailable: .configError
      }
    return DeliveryError(cause, error.description)
  }
}

extension RemotePhoto {
  /// The sender's file name made harmless: its last path component without control and format characters, without
  /// blanks and dots at its ends, not a device's name, at most 255 bytes with its ending.
  var safeFilename: String {
    // By scalar: a slash with a combining mark is another character, and still a separator.
    let last = (filename ?? "").unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? "".unicodeScalars[...]
    var scalars = last.filter { !$0.isUnseen && !"<>:\"|?*".unicodeScalars.contains($0) }
    while let first = scalars.first, first == "." || first == " " { scalars.removeFirst() }
    while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
    if Self.isDevice(String(scalars)) { scalars.insert("_", at: scalars.startIndex) }
    let ending = scalars.lastIndex(of: ".").map { String(scalars[$0...]) } ?? ""
    let kept = ending.utf8.count <= 32 ? ending : ""
    let name = String(scalars)
    if name.utf8.count > 255 {
      var base = String(scalars.dropLast(kept.unicodeScalars.count))
      while base.utf8.count + kept.utf8.count > 255 { base.removeLast() }
      // A single letter with many marks may have been all of it.
      return (base.isEmpty ? "attachment" : base) + kept
    }
    return name.isEmpty ? "attachment" : name
  }

  /// Whether another system takes the name for a device, with any ending.
  private static func isDevice(_ name: String) -> Bool {
    let base = name.prefix { $0 != "." }.uppercased()
    let isNumbered = base.utf8.count == 4 && (base.hasPrefix("COM") || base.hasPrefix("LPT"))
    return ["CON", "PRN", "AUX", "NUL"].contains(base) || isNumbered && base.utf8.last.map { 0x31...0x39 ~= $0 } == true
  }
}
