/* System calls that Swift cannot reach by itself: variadic ones, ones without a glibc wrapper, and GNU extensions. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* openat2(2) with RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS | NO_XDEV: never leaves `directory`, never follows a
   link. Returns a descriptor, or -1 with errno. Where the kernel has no openat2 it falls back to openat with
   O_NOFOLLOW; `name` must then be a single component, which it always is here. */
int ckernel_open_beneath(int directory, const char *name, int flags, mode_t mode);

/* renameat2(2) with RENAME_NOREPLACE. */
int ckernel_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to);

/* Starts write-back of a file's dirty pages without waiting for it: a hint that makes many fsyncs share their work. */
void ckernel_start_writeback(int file);

/* Whether some process holds `file` open for writing: 1 yes, 0 no, -1 the kernel would not tell. */
int ckernel_has_writer(int file);

/* What statx(2) tells of `name` below `directory`, without following a link. Times are nanoseconds since 1970. */
struct ckernel_status {
  uint64_t inode;
  uint64_t size;
  uint64_t device;
  int64_t changed_ns;
  int64_t modified_ns;
  int64_t born_ns;
  uint32_t owner;
  uint32_t links;
  uint32_t mode;
};
int ckernel_status_at(int directory, const char *name, struct ckernel_status *status);

/* A pseudo-terminal's or terminal's width in columns, or 0. */
int ckernel_terminal_columns(int terminal);

/* accept4(2) with SOCK_CLOEXEC. */
int ckernel_accept(int socket);
