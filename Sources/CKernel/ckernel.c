#define _GNU_SOURCE
#include "ckernel.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int ckernel_open_beneath(int directory, const char *name, int flags, mode_t mode) {
  struct open_how how;
  memset(&how, 0, sizeof how);
  how.flags = (uint64_t)flags;
  how.mode = (flags & O_CREAT) ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  int file = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
  if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
  if (strchr(name, '/') || !strcmp(name, "..")) {
    errno = EXDEV;
    return -1;
  }
  return openat(directory, name, flags | O_NOFOLLOW, mode);
}

int ckernel_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to) {
  return renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE);
}

void ckernel_start_writeback(int file) {
  int before = errno;
  sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
  errno = before;
}

int ckernel_has_writer(int file) {
  if (fcntl(file, F_SETLEASE, F_RDLCK) == 0) {
    fcntl(file, F_SETLEASE, F_UNLCK);
    return 0;
  }
  return errno == EAGAIN ? 1 : -1;
}

static int64_t nanoseconds(struct statx_timestamp time) {
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int ckernel_status_at(int directory, const char *name, struct ckernel_status *status) {
  struct statx found;
  int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
  if (statx(directory, name, flags, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) return -1;
  status->inode = found.stx_ino;
  status->size = found.stx_size;
  status->device = makedev(found.stx_dev_major, found.stx_dev_minor);
  status->changed_ns = nanoseconds(found.stx_ctime);
  status->modified_ns = nanoseconds(found.stx_mtime);
  status->born_ns = (found.stx_mask & STATX_BTIME) ? nanoseconds(found.stx_btime) : 0;
  status->owner = found.stx_uid;
  status->links = found.stx_nlink;
  status->mode = found.stx_mode;
  return 0;
}

int ckernel_terminal_columns(int terminal) {
  struct winsize size;
  return ioctl(terminal, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int ckernel_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC); }
