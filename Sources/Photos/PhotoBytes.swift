import CKernel
import Glibc
import Messages

/// The bytes of a photo in a sealed file in memory, which nobody can change any more.
package final class PhotoBytes: Sendable {
  /// Open for reading and writing, though the seal prevents the latter; closed with this value.
  package let descriptor: Int32
  package let count: Int

  /// Writes the pieces from `source` in order.
  ///
  /// - Throws: errors of `source`; `local_resources` without memory.
  package init(_ source: ((UnsafeRawBufferPointer) -> Void) throws -> Void) throws {
    let descriptor = ckernel_memory_file("photo")
    guard descriptor >= 0 else { throw Self.shortage }
    var count = 0
    var isShort = false
    do {
      try source { piece in
        if !isShort { isShort = !ckernel_write_all(descriptor, piece.baseAddress, piece.count) }
        count += piece.count
      }
      guard !isShort, ckernel_seal(descriptor) == 0 else { throw Self.shortage }
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.count = count
  }

  package convenience init(_ bytes: [UInt8]) throws {
    try self.init { take in bytes.withUnsafeBytes { take($0) } }
  }

  deinit { close(descriptor) }

  private static var shortage: DeliveryError {
    DeliveryError(.localResources, "there is no memory for a photo: \(String(cString: strerror(errno)))")
  }
}
