import CKernel
import Glibc

/// Standard error, for errors, progress and the log. If it cannot be written, the text is dropped and the work goes on.
package enum StandardError {
  /// Writes `text` in one system call if possible.
  package static func write(_ text: String) { write(Array(text.utf8)) }

  static func write(_ text: [UInt8]) { _ = ckernel_write_all(STDERR_FILENO, text, text.count) }
}
