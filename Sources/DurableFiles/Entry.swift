import CKernel
import Glibc

/// What the kernel says of one directory entry, links not followed.
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
  /// Nanoseconds since 1970 at which the entry was last renamed, written or otherwise changed.
  package let changed: Int64
  /// Nanoseconds since 1970 at which its contents last changed.
  package let modified: Int64
  /// Nanoseconds since 1970 at which its contents were last read, as far as the filesystem keeps it: with `relatime`
  /// once a day at most, with `noatime` never.
  package let accessed: Int64
  /// Nanoseconds since 1970 at which it was made; 0 where the filesystem does not keep it.
  package let born: Int64

  init(_ status: ckernel_status) {
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
    accessed = status.accessed_ns
    born = status.born_ns
  }
}

extension Entry.Kind {
  /// What a directory's record tells of the kind; nil where its file system does not keep that with the name.
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
