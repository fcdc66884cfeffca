import Digests
import DurableFiles

extension Spool {
  /// The text of a sent request that stayed beside its receipt; nil if none did, or if it is not the text that was sent.
  ///
  /// - Parameter digest: the SHA-256 of the file as dropped. Its owner may have changed the file since.
  package func keptText(of request: String, digest: String) throws(FileError) -> String? {
    do {
      guard let bytes = try sent.directory(request).file("text").contents(limit: RequestLimits.textFileBytes),
        SHA256Digest(of: bytes).hex == digest
      else { return nil }
      return textWithoutNewline(bytes)
    } catch {
      if error.isMissing || error.isForbidden { return nil }
      throw error
    }
  }
}

/// A text as it is sent: without its trailing newline.
package func textWithoutNewline(_ bytes: [UInt8]) -> String {
  let text = String(decoding: bytes, as: UTF8.self)
  return text.hasSuffix("\n") ? String(text.unicodeScalars.dropLast()) : text
}
