import Glibc

/// Standard error, for errors, progress and the log. If it cannot be written, the text is dropped and the work goes on.
package enum StandardError {
  /// Writes `text` in one system call if possible.
  package static func write(_ text: String) { write(Array(text.utf8)) }

  static func write(_ text: [UInt8]) {
    text.withUnsafeBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }
  }
}
