import CKernel
import Glibc
import Photos

/// The darkroom's end of the socket to the program that started it.
struct Socket {
  let descriptor: Int32

  /// Sends answers until the socket closes.
  func serve(_ nextAnswer: () -> [UInt8]?) {
    // An idle process holds little memory, and nothing of the last photo but filters of its size.
    while let answer = nextAnswer(), send(answer) { ckernel_release_memory() }
  }

  /// Waits for an order and reads its photo; nil at the end or for an invalid order.
  func receive() -> (PhotoLimits, [UInt8])? {
    guard let (bytes, photo) = receive(count: PhotoLimits.encodedSize) else { return nil }
    defer { close(photo) }
    guard let limits = PhotoLimits(encoded: bytes) else { return nil }
    return Self.contents(of: photo, limit: limits.inputBytes).map { (limits, $0) }
  }

  /// Waits for the size limit of a mail and reads the mail; nil at the end.
  func receiveMail() -> (limit: Int, mail: [UInt8])? {
    guard let (bytes, mail) = receive(count: 8) else { return nil }
    defer { close(mail) }
    let limit = Int(truncatingIfNeeded: bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    return Self.contents(of: mail, limit: min(max(0, limit), 1 << 30)).map { (limit, $0) }
  }

  /// Waits for `count` bytes and a descriptor, which the caller closes.
  private func receive(count wanted: Int) -> ([UInt8], Int32)? {
    var bytes = [UInt8](repeating: 0, count: wanted)
    var filled = 0
    var photo: Int32 = -1
    while filled < bytes.count {
      var file: Int32 = -1
      let count = bytes.withUnsafeMutableBytes { buffer in
        ckernel_receive_file(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, &file)
      }
      if file >= 0 { photo = file }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return nil }
      filled += count
    }
    return photo >= 0 ? (bytes, photo) : nil
  }

  func send(_ answer: [UInt8]) -> Bool {
    var header = UInt64(answer.count).littleEndian
    return ckernel_send_all(descriptor, &header, 8) && ckernel_send_all(descriptor, answer, answer.count)
  }

  /// Reads one byte more than the limit, enough to refuse the photo.
  private static func contents(of file: Int32, limit: Int) -> [UInt8]? {
    let size = min(Int(lseek(file, 0, SEEK_END)), max(0, limit) + 1)
    guard size >= 0 else { return nil }
    var isWhole = true
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
      while filled < size {
        let count = pread(file, buffer.baseAddress.map { $0 + filled }, size - filled, off_t(filled))
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else {
          isWhole = false
          return
        }
        filled += count
      }
    }
    return isWhole ? bytes : nil
  }
}
