import Glibc
import Photos
import Testing

@Suite struct PhotoBytesTests {
  @Test("The descriptor gives the written bytes, which can no longer be changed")
  func sealed() throws {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let photo = try PhotoBytes { take in
      for start in stride(from: 0, to: bytes.count, by: 70_001) {
        bytes[start..<min(start + 70_001, bytes.count)].withUnsafeBytes { take($0) }
      }
    }
    #expect(photo.count == bytes.count)
    var read = [UInt8](repeating: 0, count: bytes.count + 1)
    #expect(pread(photo.descriptor, &read, read.count, 0) == bytes.count)
    #expect(read.dropLast() == bytes[...])
    #expect(pwrite(photo.descriptor, [1], 1, 0) == -1 && errno == EPERM)
    #expect(ftruncate(photo.descriptor, 0) == -1 && errno == EPERM)
  }

  @Test("An error of the source is passed on")
  func fault() {
    struct Fault: Error {}
    #expect(throws: Fault.self) { try PhotoBytes { _ in throw Fault() } }
  }
}
