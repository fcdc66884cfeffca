import Digests
import DurableFiles

extension Spool {
  /// The text of a sent request, if it is kept and is the text that was sent.
  ///
  /// - Parameter digest: the SHA-256 of the file as dropped. Its owner may have changed the file since.
  package func keptText(of request: String, digest: String) throws(FileError) -> String? {
    // Until its receipt is written, a sent request is in `cur/`. It may be moved between two looks.
    for place in [sent, cur, sent] {
      do {
        guard let bytes = try place.directory(request).file("text").contents(limit: RequestLimits.textFileBytes),
          SHA256Digest(of: bytes).hex == digest
        else { continue }
        return textWithoutNewline(bytes)
      } catch {
        if !error.isMissing && !error.isForbidden { throw error }
      }
    }
    return nil
  }
}

/// A text as it is sent: without its trailing newline.
package func textWithoutNewline(_ bytes: [UInt8]) -> String {
  String(decoding: bytes, as: UTF8.self).withoutLastNewline
}
