import Glibc

/// Standard error, for complaints, progress and the log. What it cannot take, because its disk is full or its reader gone,
/// is dropped: nobody is left to be told, and the work goes on.
enum StandardError {
  /// Writes `text` in one piece where the system takes it in one.
  static func write(_ text: String) { write(Array(text.utf8)) }

  /// The same of a text in UTF-8.
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
