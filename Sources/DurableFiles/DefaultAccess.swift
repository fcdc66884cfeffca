import CKernel
import Glibc

/// A default ACL: a user's permissions for everything that others make in a directory, whatever their umask.
extension Directory {
  /// Gives `user` full access to everything made here from now on, and the group and others none. An ACL that already
  /// does is kept.
  package func grantByDefault(to user: uid_t) throws(FileError) {
    guard ckernel_grant_by_default(descriptor, user) == 0 else { throw FileError("set the default ACL of", path) }
  }

  /// Whether `user` has full access.
  ///
  /// - Throws: `EOPNOTSUPP` if the filesystem has no ACLs.
  package func grantsByDefault(to user: uid_t) throws(FileError) -> Bool {
    let grants = ckernel_grants_by_default(descriptor, user)
    guard grants >= 0 else { throw FileError("read the default ACL of", path) }
    return grants == 1
  }
}

extension File {
  /// Sets the permissions of the file, and removes those from a default ACL.
  package func setPlainPermissions(_ mode: mode_t) throws(FileError) {
    guard ckernel_drop_acl(descriptor) == 0 else { throw FileError("set the permissions of", path) }
    try setPermissions(mode)
  }
}
