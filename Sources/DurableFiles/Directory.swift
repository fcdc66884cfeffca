import CKernel
import Glibc
import Synchronization

/// An open directory. Everything below it is opened without following links and without leaving it.
package final class Directory: Sendable {
  let descriptor: Int32
  /// Its path, for error sentences.
  package let path: String
  private let hasFailed = Atomic<Bool>(false)

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// Opens the directory at `path`, which must come from the configuration and not from a client.
  package convenience init(path: String) throws(FileError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError("open", path) }
    self.init(descriptor: descriptor, path: path)
  }

  /// The path of `name` below this directory, for error sentences and other tools.
  package func path(of name: String) -> String { "\(path)/\(name)" }

  /// A short path to this directory, valid in this process only.
  package var pathByDescriptor: String { "/proc/self/fd/\(descriptor)" }

  // MARK: Looking

  /// The status of `name`, without following a link; nil if it does not exist.
  package func entry(_ name: String) throws(FileError) -> Entry? {
    if let entry = Entry(descriptor, name) { return entry }
    if errno == ENOENT { return nil }
    throw FileError("stat", path(of: name))
  }

  /// The status of the directory itself.
  package func entry() throws(FileError) -> Entry {
    guard let entry = Entry(descriptor, "") else { throw FileError("stat", path) }
    return entry
  }

  /// Calls `visit` with each name, as raw bytes, until it returns false. Names are unordered, and one renamed meanwhile
  /// may be missed.
  package func forEachName(_ visit: ([UInt8]) throws -> Bool) throws {
    _ = try forEachName(from: 0) { name, _ in try visit(name) }
  }

  /// The sorted names, without those that are not UTF-8. For small directories.
  package func names() throws -> [String] {
    var names = [String]()
    try forEachName { bytes in
      if let name = String(validating: bytes, as: UTF8.self) { names.append(name) }
      return true
    }
    return names.sorted()
  }

  /// Whether this process may read and change the directory `name`, and so move it.
  package func mayTake(_ name: String) -> Bool { faccessat(descriptor, name, R_OK | W_OK | X_OK, AT_EACCESS) == 0 }

  // MARK: Opening

  package func directory(_ name: String) throws(FileError) -> Directory {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let descriptor = ckernel_open_beneath(self.descriptor, name, flags, 0)
    guard descriptor >= 0 else { throw FileError("open", path(of: name)) }
    return Directory(descriptor: descriptor, path: path(of: name))
  }

  /// Opens the directory at a relative `path` in one call, without following links anywhere.
  package func directory(at path: String) throws(FileError) -> Directory {
    do { return try directory(path) } catch {
      // Without openat2, open name by name.
      guard error.code == EXDEV else { throw error }
      var place = self
      for name in path.split(separator: "/") { place = try place.directory(String(name)) }
      return place
    }
  }

  /// Opens the directory `name`, or makes it with `mode` and syncs this directory.
  package func directory(creating name: String, mode: mode_t = 0o700) throws(FileError) -> Directory {
    if try make(name, mode: mode) { try sync() }
    return try directory(name)
  }

  /// Opens the file `name` for reading. A FIFO or device does not block; check `entry().kind`.
  package func file(_ name: String) throws(FileError) -> File {
    try file(name, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
  }

  /// The same for the file at a relative `path` below a directory, without following links anywhere.
  package func file(at path: String) throws(FileError) -> File {
    do { return try file(path) } catch {
      // Without openat2, open its directory first.
      guard error.code == EXDEV, let slash = path.lastIndex(of: "/") else { throw error }
      return try directory(at: String(path[..<slash])).file(String(path[slash...].dropFirst()))
    }
  }

  /// Makes the file `name`, which must not exist, and opens it for writing.
  package func file(creating name: String, mode: mode_t = 0o600) throws(FileError) -> File {
    try file(name, flags: O_WRONLY | O_CREAT | O_EXCL, mode: mode)
  }

  /// Opens the file `name` for reading and appending, and makes it if missing.
  package func file(appendingTo name: String, mode: mode_t = 0o600) throws(FileError) -> File {
    try file(name, flags: O_RDWR | O_CREAT | O_APPEND, mode: mode)
  }

  private func file(_ name: String, flags: Int32, mode: mode_t = 0) throws(FileError) -> File {
    let descriptor = ckernel_open_beneath(
      self.descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw FileError("open", path(of: name)) }
    return File(descriptor: descriptor, path: path(of: name))
  }

  // MARK: Changing

  /// Takes the kernel's lock (flock) on the directory; false if it is taken. It ends with this `Directory`.
  package func tryLock() throws(FileError) -> Bool { try tryFlock(descriptor, path) }

  /// Makes the directory `name`; false if the name is taken.
  package func make(_ name: String, mode: mode_t = 0o700) throws(FileError) -> Bool {
    if mkdirat(descriptor, name, mode) == 0 { return true }
    if errno == EEXIST { return false }
    throw FileError("make directory", path(of: name))
  }

  package func setPermissions(_ mode: mode_t) throws(FileError) {
    guard fchmod(descriptor, mode) == 0 else { throw FileError("set the permissions of", path) }
  }

  /// Renames `name` into `other`; false if `newName` is taken there.
  package func move(_ name: String, to other: Directory, as newName: String) throws(FileError) -> Bool {
    if ckernel_rename_exclusive(descriptor, name, other.descriptor, newName) == 0 { return true }
    if errno == EEXIST || errno == ENOTEMPTY { return false }
    throw FileError("rename", "\(path(of: name)) to \(other.path(of: newName))")
  }

  /// Renames `name` within this directory and replaces `newName`.
  package func replace(_ newName: String, with name: String) throws(FileError) {
    guard renameat(descriptor, name, descriptor, newName) == 0 else {
      throw FileError("rename", "\(path(of: name)) to \(newName)")
    }
  }

  /// Removes the file `name`, if it exists.
  package func remove(_ name: String) throws(FileError) { _ = try removeExisting(name) }

  /// Removes the file `name`. Returns false if there is none.
  package func removeExisting(_ name: String) throws(FileError) -> Bool {
    if unlinkat(descriptor, name, 0) == 0 { return true }
    guard errno == ENOENT else { throw FileError("remove", path(of: name)) }
    return false
  }

  /// Removes the empty directory `name`, if it exists.
  package func removeEmpty(_ name: String) throws(FileError) {
    guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
      throw FileError("remove", path(of: name))
    }
  }

  /// The bytes that this process may still use on its filesystem.
  package func freeBytes() throws(FileError) -> Int {
    var status = statvfs()
    guard fstatvfs(descriptor, &status) == 0 else { throw FileError("ask for the room of", path) }
    let (bytes, overflow) = UInt(status.f_bavail).multipliedReportingOverflow(by: UInt(status.f_frsize))
    return overflow ? .max : Int(clamping: bytes)
  }

  /// Syncs the names in this directory. As with `File.sync`, an error is final for the descriptor: a retry repeats the
  /// whole step and syncs through a new one. A filesystem that cannot write its journal stops. XFS then answers the
  /// sync of a directory with success, because nothing is left to write, but fails other questions. So one is asked,
  /// too.
  package func sync() throws(FileError) {
    if hasFailed.load(ordering: .relaxed) {
      let again = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard again >= 0 else { throw FileError("sync", path) }
      defer { close(again) }
      guard fsync(again) == 0 else { throw FileError("sync", path) }
    } else if fsync(descriptor) != 0 {
      let error = FileError("sync", path)
      hasFailed.store(true, ordering: .relaxed)
      throw error
    }
    do { _ = try entry() } catch { throw FileError("sync", path, code: error.code) }
  }

  // MARK: Names of any bytes

  /// As `entry`, for a name of any bytes.
  package func entry(bytes name: [UInt8]) throws(FileError) -> Entry? {
    if let entry = Entry(descriptor, Self.terminated(name)) { return entry }
    if errno == ENOENT { return nil }
    throw FileError("stat", path(of: String(decoding: name, as: UTF8.self)))
  }

  /// Renames an entry whose name may be any bytes; false if it is gone.
  package func moveAnything(_ name: [UInt8], to other: Directory, as newName: String) throws(FileError) -> Bool {
    if ckernel_rename_exclusive(descriptor, Self.terminated(name), other.descriptor, newName) == 0 { return true }
    if errno == ENOENT { return false }
    let former = path(of: String(decoding: name, as: UTF8.self))
    throw FileError("rename", "\(former) to \(other.path(of: newName))")
  }

  private static func terminated(_ name: [UInt8]) -> [CChar] { name.map(CChar.init(bitPattern:)) + [0] }

  /// As `forEachName`, from a position that an earlier call returned, with the position of each name. Rounds from
  /// position to position visit every name that stays. Positions survive restarts. Returns whether the end was reached.
  package func forEachName(from position: Int, _ visit: ([UInt8], Int) throws -> Bool) throws -> Bool {
    // A descriptor of its own, because readers must not share a position.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw FileError("read", path) }
    guard let stream = fdopendir(copy) else {
      let code = errno
      close(copy)
      throw FileError("read", path, code: code)
    }
    defer { closedir(stream) }
    if position != 0 { seekdir(stream, position) }
    while true {
      let here = telldir(stream)
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw FileError("read", path) }
        return true
      }
      // `d_name` is unsafe here: Swift copies its declared length, and the record may be shorter.
      guard let name = Self.name(ckernel_entry_name(entry)) else { continue }
      guard try visit(name, here) else { return false }
    }
  }

  /// Calls `visit` with each name, and its kind if the filesystem stores it with the name, until it returns false. It
  /// moves the position of this `Directory`, so it needs exclusive access; that saves a descriptor.
  package func forEachEntry(_ visit: ([UInt8], Entry.Kind?) throws -> Bool) throws {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw FileError("read", path) }
    try withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { records in
      guard let start = records.baseAddress else { return }
      while true {
        let bytes = ckernel_read_records(descriptor, start, records.count)
        guard bytes >= 0 else { throw FileError("read", path) }
        if bytes == 0 { return }
        var offset = 0
        while offset < bytes {
          let record = ckernel_record_at(start + offset)
          offset += record.length
          guard let name = Self.name(record.name) else { continue }
          guard try visit(name, Entry.Kind(told: record.type)) else { return }
        }
      }
    }
  }

  /// nil for the directory itself and its parent.
  static func name(_ text: UnsafePointer<CChar>) -> [UInt8]? {
    let name = Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    return name == [UInt8(ascii: ".")] || name == Array("..".utf8) ? nil : name
  }
}
