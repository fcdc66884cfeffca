import Glibc

/// An IPv4 or IPv6 address.
package struct IPAddress {
  /// 4 or 16.
  private let bytes: [UInt8]

  private init(bytes: some Collection<UInt8>) { self.bytes = Array(bytes) }

  /// nil for anything else.
  package init?(_ text: String) {
    var (four, six) = (in_addr(), in6_addr())
    // An IPv6 address may name an interface.
    let bare = String(text.prefix { $0 != "%" })
    if inet_pton(AF_INET, bare, &four) == 1 {
      bytes = withUnsafeBytes(of: four) { Array($0) }
    } else if inet_pton(AF_INET6, bare, &six) == 1 {
      bytes = withUnsafeBytes(of: six) { Array($0) }
    } else {
      return nil
    }
  }

  /// The address of a socket; nil for one of another family.
  init?(_ address: UnsafePointer<sockaddr>, length: Int) {
    let raw = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
      bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
    case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
      bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
    default: return nil
    }
  }

  var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
  }

  /// Whether it is of an internet host: not this machine's, not its networks', and not in the registries of
  /// special-purpose addresses (RFC 6890).
  package var isPublic: Bool {
    if bytes.count == 4 {
      switch (bytes[0], bytes[1], bytes[2]) {
      case (0, _, _), (10, _, _), (127, _, _), (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _),
        (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 18...19, _), (198, 51, 100), (203, 0, 113), (224..., _, _):
        return false
      default: return true
      }
    }
    let isZero: (Range<Int>) -> Bool = { bytes[$0].allSatisfy { $0 == 0 } }
    // IPv4 addresses in IPv6: mapped, and translated by a gateway.
    let isMapped = isZero(0..<10) && bytes[10] == 0xff && bytes[11] == 0xff
    let isTranslated = bytes[..<4] == [0x00, 0x64, 0xff, 0x9b] && isZero(4..<12)
    if isMapped || isTranslated { return IPAddress(bytes: bytes[12...]).isPublic }
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0d, 0xb8), (0x3f, 0xff, 0x00...0x0f, _): return false
    case (0x20, 0x02, _, _): return IPAddress(bytes: bytes[2..<6]).isPublic
    default: return 0x20...0x3f ~= bytes[0]
    }
  }
}
