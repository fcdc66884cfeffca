/* Default ACLs, in the form in which the kernel takes and gives them as extended attributes: a header and entries, all of them
   little-endian, sorted by tag (include/uapi/linux/posix_acl_xattr.h). */
#define _GNU_SOURCE
#include "ckernel.h"
#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/xattr.h>

static const char by_default[] = "system.posix_acl_default";
enum { everything = ACL_READ | ACL_WRITE | ACL_EXECUTE, most_entries = 256 };

static struct posix_acl_xattr_entry entry(int tag, int permissions, uint32_t user) {
  return (struct posix_acl_xattr_entry){htole16((uint16_t)tag), htole16((uint16_t)permissions), htole32(user)};
}

int ckernel_grants_by_default(int directory, uid_t user) {
  struct {
    struct posix_acl_xattr_header header;
    struct posix_acl_xattr_entry entries[most_entries];
  } acl;
  const ssize_t bytes = fgetxattr(directory, by_default, &acl, sizeof acl);
  // A longer ACL is not ours.
  if (bytes < 0) return errno == ENODATA || errno == ERANGE ? 0 : -1;
  if ((size_t)bytes < sizeof acl.header || le32toh(acl.header.a_version) != POSIX_ACL_XATTR_VERSION) return 0;
  const size_t count = ((size_t)bytes - sizeof acl.header) / sizeof acl.entries[0];
  int granted = 0, mask = everything;
  for (size_t index = 0; index < count; index++) {
    const int tag = le16toh(acl.entries[index].e_tag), permissions = le16toh(acl.entries[index].e_perm);
    if (tag == ACL_USER && le32toh(acl.entries[index].e_id) == user) granted = permissions;
    if (tag == ACL_MASK) mask = permissions;
  }
  return (granted & mask) == everything;
}

int ckernel_grant_by_default(int directory, uid_t user) {
  const int grants = ckernel_grants_by_default(directory, user);
  if (grants != 0) return grants < 0 ? -1 : 0;
  const struct {
    struct posix_acl_xattr_header header;
    struct posix_acl_xattr_entry entries[5];
  } acl = {
    {htole32(POSIX_ACL_XATTR_VERSION)},
    {entry(ACL_USER_OBJ, everything, ACL_UNDEFINED_ID), entry(ACL_USER, everything, user),
     entry(ACL_GROUP_OBJ, 0, ACL_UNDEFINED_ID), entry(ACL_MASK, everything, ACL_UNDEFINED_ID),
     entry(ACL_OTHER, 0, ACL_UNDEFINED_ID)}};
  return fsetxattr(directory, by_default, &acl, sizeof acl, 0);
}

int ckernel_drop_acl(int file) {
  if (fremovexattr(file, "system.posix_acl_access") == 0 || errno == ENODATA || errno == EOPNOTSUPP) return 0;
  return -1;
}
