import CKernel
import Glibc

/// The status of a directory entry, without following a link.
package struct Entry: Sendable {
  package enum Kind: Sendable, Equatable {
    case file, directory, symbolicLink, fifo, socket, device
  }

  package let kind: Kind
  package let inode: UInt64
  package let device: UInt64
  /// Bytes.
  package let size: Int
  package let owner: UInt32
  package let links: UInt32
  package let permissions: UInt32
  /// The last change in nanoseconds since 1970, also by a rename.
  package let changed: Int64
  /// The last change of the contents, in nanoseconds since 1970.
  package let modified: Int64
  /// The time of birth in nanoseconds since 1970; 0 if the filesystem does not keep it.
  package let born: Int64

  /// The entry `name` below a directory, or with an empty name the descriptor's own. nil after an error, with `errno`.
  init?(_ descriptor: Int32, _ name: UnsafePointer<CChar>) {
    var status = ckernel_status()
    guard ckernel_status_at(descriptor, name, &status) == 0 else { return nil }
    kind =
      switch status.mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      case S_IFIFO: .fifo
      case S_IFSOCK: .socket
      default: .device
      }
    inode = status.inode
    device = status.device
    size = Int(clamping: status.size)
    owner = status.owner
    links = status.links
    permissions = status.mode & 0o7777
    changed = status.changed_ns
    modified = status.modified_ns
    born = status.born_ns
  }
}

extension Entry.Kind {
  /// The kind in a directory's record; nil if the filesystem does not store it.
  init?(told type: UInt8) {
    switch Int(type) {
    case DT_REG: self = .file
    case DT_DIR: self = .directory
    case DT_LNK: self = .symbolicLink
    case DT_FIFO: self = .fifo
    case DT_SOCK: self = .socket
    case DT_BLK, DT_CHR: self = .device
    default: return nil
    }
  }
}
