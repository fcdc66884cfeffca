import CKernel
import Glibc

/// An open regular file. It closes with its last reference.
package final class File: Sendable {
  package let descriptor: Int32
  /// Its path, for error sentences.
  package let path: String

  /// Its contents were copied from a pipe or a device.
  private let isStream: Bool

  init(descriptor: Int32, path: String, isStream: Bool = false) {
    self.descriptor = descriptor
    self.path = path
    self.isStream = isStream
  }

  /// The last part of its path; nil for a pipe or a device.
  package var name: String? { isStream ? nil : path.split(separator: "/").last.map(String.init) }

  deinit { close(descriptor) }

  /// The same open file under a client's name.
  package func called(_ name: String) throws(FileError) -> File {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw FileError("open", path) }
    return File(descriptor: copy, path: name)
  }

  package func entry() throws(FileError) -> Entry {
    guard let entry = Entry(descriptor, "") else { throw FileError("stat", path) }
    return entry
  }

  /// Whether another descriptor is open for writing; nil if the kernel does not tell, as for another user's file.
  package func hasWriter() -> Bool? {
    switch ckernel_has_writer(descriptor) {
    case 0: false
    case 1: true
    default: nil
    }
  }

  /// Passes at most `limit` bytes of the contents to `take`, in pieces. Returns the number of bytes; `limit + 1` if the
  /// file is larger than `limit`.
  package func read(
    limit: Int, _ take: (UnsafeRawBufferPointer) throws(FileError) -> Void
  ) throws(FileError) -> Int {
    // The allocator caches small buffers, but trims memory beyond 64 KiB.
    let size = limit <= 1 << 16 ? 1 << 14 : 1 << 18
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { buffer.deallocate() }
    var total = 0
    while true {
      let count = pread(descriptor, buffer.baseAddress, size, off_t(total))
      if count < 0 {
        if errno == EINTR { continue }
        throw FileError("read", path)
      }
      if count == 0 { return total }
      if total + count > limit { return limit + 1 }
      try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      total += count
    }
  }

  /// Appends at most `limit` bytes of the contents to `other`, in pieces, and shows each to `see`. Returns as `read`.
  package func copy(
    to other: File, limit: Int, _ see: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) throws(FileError) -> Int {
    try read(limit: limit) { piece throws(FileError) in
      try other.write(piece)
      see(piece)
    }
  }

  /// The whole contents; nil if the file is larger than `limit` bytes.
  package func contents(limit: Int) throws(FileError) -> [UInt8]? {
    var bytes = [UInt8]()
    if limit > 1 << 16 { bytes.reserveCapacity(min(try entry().size, limit)) }
    let count = try read(limit: limit) { bytes.append(contentsOf: $0) }
    return count > limit ? nil : bytes
  }

  /// Bytes `start..<start + count`, or fewer at the end of the file.
  package func bytes(from start: Int, count: Int) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let filled = try bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(FileError) in try fill(buffer, from: start) }
    }.get()
    return Array(bytes.prefix(filled))
  }

  /// Fills `buffer` with the bytes from `start` on. Returns their number, which is smaller at the end of the file.
  package func fill(_ buffer: UnsafeMutableRawBufferPointer, from start: Int = 0) throws(FileError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let got = pread(
        descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(start + filled))
      if got < 0 {
        if errno == EINTR { continue }
        throw FileError("read", path)
      }
      if got == 0 { break }
      filled += got
    }
    return filled
  }

  /// Appends all of `bytes`.
  package func write(_ bytes: [UInt8]) throws(FileError) {
    try bytes.withUnsafeBytes { buffer in Result { () throws(FileError) in try write(buffer) } }.get()
  }

  /// Appends all of `bytes`.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
    guard ckernel_write_all(descriptor, bytes.baseAddress, bytes.count) else { throw FileError("write", path) }
  }

  /// Sets the permissions, whatever the umask.
  package func setPermissions(_ mode: mode_t) throws(FileError) {
    guard fchmod(descriptor, mode) == 0 else { throw FileError("set the permissions of", path) }
  }

  /// Sets the times of the last change of the contents and of the last reading, in nanoseconds since 1970.
  package func setModified(_ nanoseconds: Int64) throws(FileError) {
    let seconds = nanoseconds / 1_000_000_000
    let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds - seconds * 1_000_000_000))
    if futimens(descriptor, [time, time]) != 0 { throw FileError("set the time of", path) }
  }

  package func truncate(to size: Int) throws(FileError) {
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw FileError("truncate", path) }
  }

  /// Allocates `size` bytes on the disk.
  package func allocate(_ size: Int) throws(FileError) {
    let code = posix_fallocate(descriptor, 0, off_t(size))
    guard code == 0 else { throw FileError("allocate", path, code: code) }
  }

  /// Syncs the contents. An error is final: the kernel may have dropped the data, and the next sync could falsely
  /// succeed.
  package func sync() throws(FileError) {
    guard fsync(descriptor) == 0 else { throw FileError("sync", path) }
  }

  /// Starts writing the contents without waiting, so that the syncs of many files share their work.
  package func startWriteback() { ckernel_start_writeback(descriptor) }

  /// Checks, after a sync of the whole filesystem, that the contents were written.
  ///
  /// - Throws: a write error since the file was opened, or an earlier one that nobody has seen. It is final, as that of
  ///   `sync`.
  package func checkWritten() throws(FileError) {
    guard ckernel_await_writeback(descriptor) == 0 else { throw FileError("sync", path) }
  }
}

extension File {
  /// Opens a file named on the command line; links are followed.
  package convenience init(reading path: String) throws(FileError) {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError("open", path) }
    self.init(descriptor: descriptor, path: path)
    if try entry().kind != .file { throw FileError("read as a plain file", path, code: EINVAL) }
  }

  /// Reads a pipe, a device, or standard input (`-`) into memory, at most one byte more than `limit`. The rest of a
  /// pipe is read and dropped, so that its writer does not fail.
  package convenience init(readingStream path: String, limit: Int) throws(FileError) {
    let name = path == "-" ? "standard input" : path
    let source = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard source >= 0 else { throw FileError("open", name) }
    defer { close(source) }
    let descriptor = ckernel_memory_file("photo")
    guard descriptor >= 0 else { throw FileError("keep", name) }
    self.init(descriptor: descriptor, path: name, isStream: true)
    let isPipe = Entry(source, "")?.kind == .fifo
    var total = 0
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(source, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw FileError("read", name) }
      if count == 0 { return }
      if total <= limit { try write(Array(buffer.prefix(min(count, limit + 1 - total)))) }
      total += count
      if total > limit && !isPipe { return }
    }
  }

  /// A file in memory with `bytes`, and without a name.
  package convenience init(inMemory bytes: [UInt8]) throws(FileError) {
    let descriptor = ckernel_memory_file("photo")
    guard descriptor >= 0 else { throw FileError("keep", "a photo") }
    self.init(descriptor: descriptor, path: "a photo", isStream: true)
    try write(bytes)
  }
}
