import CKernel
import Glibc

/// A default ACL: the permissions of a user in all that others make in a directory, whatever their umask.
extension Directory {
  /// Gives `user` everything in what is made here from now on, and its group and others nothing. An ACL that gives the user
  /// everything is left as it is.
  package func grantByDefault(to user: uid_t) throws(FileError) {
    guard ckernel_grant_by_default(descriptor, user) == 0 else { throw FileError("set the default ACL of", path) }
  }

  /// Whether `user` is given everything.
  ///
  /// - Throws: `EOPNOTSUPP` where the file system keeps no ACLs.
  package func grantsByDefault(to user: uid_t) throws(FileError) -> Bool {
    let grants = ckernel_grants_by_default(descriptor, user)
    guard grants >= 0 else { throw FileError("read the default ACL of", path) }
    return grants == 1
  }
}

extension File {
  /// Sets the permissions of the file, and takes away what a default ACL gave to it.
  package func setPlainPermissions(_ mode: mode_t) throws(FileError) {
    guard ckernel_drop_acl(descriptor) == 0 else { throw FileError("set the permissions of", path) }
    try setPermissions(mode)
  }
}
