import COpenSSL
import Messages

/// Random bytes from OpenSSL's generator.
package enum RandomBytes {
  package static func make(_ count: Int) throws(DeliveryError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard RAND_bytes(&bytes, Int32(count)) == 1 else {
      ERR_clear_error()
      throw DeliveryError(.configError, "OpenSSL has no random numbers; check the machine's entropy source")
    }
    return bytes
  }
}
