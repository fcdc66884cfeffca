import CKernel
import Glibc
import Photos

/// The darkroom's end of the socket to the program that started it.
struct Socket {
  let descriptor: Int32

  /// Waits for an order and reads its photo; nil at the end or for an invalid order.
  func receive() -> (DarkroomOrder, [UInt8])? {
    var bytes = [UInt8](repeating: 0, count: DarkroomOrder.size)
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
    guard photo >= 0, let order = DarkroomOrder(encoded: bytes) else { return nil }
    defer { close(photo) }
    return Self.contents(of: photo, limit: order.limits.inputBytes).map { (order, $0) }
  }

  func send(_ answer: [UInt8]) -> Bool {
    var header = UInt64(answer.count).littleEndian
    return withUnsafeBytes(of: &header) { send($0) } && answer.withUnsafeBytes { send($0) }
  }

  private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = Glibc.send(
        descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
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
