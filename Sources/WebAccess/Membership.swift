import Glibc

extension AccessStore {
  /// The name of a user of this computer in the group that may send; nil for others.
  package func memberName(_ user: UInt32) throws -> String? {
    var spool = stat()
    guard stat(path, &spool) == 0, let entry = getpwuid(user)?.pointee else { return nil }
    let name = String(cString: entry.pw_name)
    var groups = [gid_t](repeating: 0, count: 1024)
    var count = Int32(groups.count)
    guard getgrouplist(name, entry.pw_gid, &groups, &count) >= 0 else { return nil }
    return groups.prefix(Int(count)).contains(spool.st_gid) ? name : nil
  }
}
