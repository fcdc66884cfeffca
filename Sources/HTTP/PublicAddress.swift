import Glibc

/// Addresses of internet hosts: not this machine's, not its networks', and not in the registries of special-purpose
/// addresses (RFC 6890).
package enum PublicAddress {
  /// Whether `text`, an IPv4 or IPv6 address, is public; false for anything else.
  package static func isPublic(_ text: String) -> Bool { bytes(of: text).map(isPublic(bytes:)) ?? false }

  /// Whether `text`, an IPv4 or IPv6 address, is a loopback address.
  static func isLoopback(_ text: String) -> Bool { bytes(of: text).map(isLoopback(bytes:)) ?? false }

  /// The 4 or 16 bytes of an address.
  private static func bytes(of text: String) -> [UInt8]? {
    var (four, six) = (in_addr(), in6_addr())
    // An IPv6 address may name an interface.
    let bare = String(text.prefix { $0 != "%" })
    if inet_pton(AF_INET, bare, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
    return inet_pton(AF_INET6, bare, &six) == 1 ? withUnsafeBytes(of: six) { Array($0) } : nil
  }

  /// The 4 or 16 bytes of a socket's address.
  static func bytes(of address: UnsafePointer<sockaddr>, length: Int) -> [UInt8]? {
    let bytes = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
      return withUnsafeBytes(of: bytes.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
    case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
      return withUnsafeBytes(of: bytes.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
    default: return nil
    }
  }

  static func isLoopback(bytes address: [UInt8]) -> Bool {
    address.count == 4 ? address[0] == 127 : address.dropLast().allSatisfy { $0 == 0 } && address.last == 1
  }

  static func isPublic(bytes address: [UInt8]) -> Bool {
    address.count == 4 ? isPublic(four: address) : isPublic(six: address)
  }

  private static func isPublic(four address: [UInt8]) -> Bool {
    switch (address[0], address[1], address[2]) {
    case (0, _, _), (10, _, _), (127, _, _), (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _): false
    case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 18...19, _), (198, 51, 100), (203, 0, 113): false
    case (224..., _, _): false
    default: true
    }
  }

  private static func isPublic(six address: [UInt8]) -> Bool {
    let isZero: (Range<Int>) -> Bool = { address[$0].allSatisfy { $0 == 0 } }
    // IPv4 addresses in IPv6: mapped, and translated by a gateway.
    if isZero(0..<10), address[10] == 0xff, address[11] == 0xff { return isPublic(four: Array(address[12...])) }
    if address[..<4] == [0x00, 0x64, 0xff, 0x9b], isZero(4..<12) { return isPublic(four: Array(address[12...])) }
    switch (address[0], address[1], address[2], address[3]) {
    case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0d, 0xb8), (0x3f, 0xff, 0x00...0x0f, _): return false
    case (0x20, 0x02, _, _): return isPublic(four: Array(address[2..<6]))
    default: return 0x20...0x3f ~= address[0]
    }
  }
}
