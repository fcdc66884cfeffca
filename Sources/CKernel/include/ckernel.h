/* System calls that Swift cannot reach by itself: variadic ones, ones without a glibc wrapper, and GNU extensions. Also the
   loops around partial writes, for modules that share no other. */
#pragma once
#include <dirent.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* openat2(2) with RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS | NO_XDEV: never leaves `directory`, never follows a
   link. Returns a descriptor, or -1 with errno. Without openat2 it uses openat with O_NOFOLLOW, and a `name` of several
   components gets EXDEV. Reading does not change the access time (O_NOATIME), which would cost more than reading a small
   file. Only owners may request that, so the process stops doing so after the first file of another user. */
int ckernel_open_beneath(int directory, const char *name, int flags, mode_t mode);

/* Flushes standard output. Returns whether this or an earlier write failed. */
bool ckernel_output_failed(void);

/* renameat2(2) with RENAME_NOREPLACE. On filesystems without it, a check and a rename: an entry that takes the name in
   between is replaced, unless it is a directory that is not empty, as a request. */
int ckernel_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to);

/* posix_spawn_file_actions_addclosefrom_np(3): the child keeps no descriptor from `first` on. Returns 0, or an errno. */
int ckernel_close_from(posix_spawn_file_actions_t *actions, int first);

/* The name in an entry of readdir(3). */
const char *ckernel_entry_name(const struct dirent *entry);

/* getdents64(2). Returns the bytes of the records; 0 at the end, -1 with errno. */
ssize_t ckernel_read_records(int directory, void *records, size_t bytes);

/* A record: its name, its type (DT_REG and the like), and the bytes to the next one. */
typedef struct {
  const char *name;
  unsigned char type;
  size_t length;
} ckernel_record;
ckernel_record ckernel_record_at(const void *record);

/* Starts write-back of a file's dirty pages without waiting, so that many fsyncs share their work. */
void ckernel_start_writeback(int file);

/* Whether syncfs(2) on the filesystem of `directory` is reliable and reports errors, as since Linux 5.17: 1 yes, 0 no or
   unknown. */
int ckernel_syncs_whole(int directory);

/* syncfs(2). */
int ckernel_sync_whole(int directory);

/* Waits for the running write-back of `file`. Returns 0, or -1 with errno if one failed since the file was opened, or
   earlier without being reported. */
int ckernel_await_writeback(int file);

/* Whether a process holds `file` open for writing: 1 yes, 0 no, -1 unknown. */
int ckernel_has_writer(int file);

/* Sets a default ACL: new entries below `directory` give `user` everything, their owner what their mode says, and the
   group and others nothing. The maker's umask has no effect; an explicit mode masks the user's rights. An ACL that already
   gives the user everything is kept. Returns 0, or -1 with errno. */
int ckernel_grant_by_default(int directory, uid_t user);

/* Whether a default ACL of `directory` gives `user` everything: 1 yes, 0 no, -1 with errno (EOPNOTSUPP without ACLs). */
int ckernel_grants_by_default(int directory, uid_t user);

/* Removes the rights from a default ACL on `file`. Returns 0, or -1 with errno. */
int ckernel_drop_acl(int file);

/* statx(2) of `name` below `directory`, without following a link. Times are nanoseconds since 1970. */
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

/* The commit that this was built from by `make build`; empty otherwise. */
const char *ckernel_commit(void);

/* Raises the limit of descriptors for this process and its children, as far as permitted. Returns the limit. */
long ckernel_allow_descriptors(long wanted);

/* Disables core files for this process and its children. */
void ckernel_refuse_core_files(void);

/* Handles SIGBUS, which a mapped file causes if a page cannot be read: prints `sentence`, which must stay in memory, and
   exits with `status`. */
void ckernel_end_on_bus_error(const char *sentence, int status);

/* A close-on-exec pipe, to read from and to write to; reading does not block. Returns 0, or -1 with errno. */
int ckernel_pipe(int ends[2]);

/* A descriptor that becomes readable when a child has ended, or -1. */
int ckernel_watch_process(pid_t child);

/* Starts a program in the directory `/`. Returns 0, or an errno. */
int ckernel_begin_in_root(posix_spawn_file_actions_t *actions);

/* accept4(2) with SOCK_CLOEXEC. */
int ckernel_accept(int socket);

/* Write all bytes, to a socket without SIGPIPE. They repeat interrupted and partial writes, and return false, with errno,
   after an error. */
bool ckernel_write_all(int file, const void *bytes, size_t count);
bool ckernel_send_all(int socket, const void *bytes, size_t count);

/* A file in memory that nobody else can name, or -1. `label` is for people who look into /proc. */
int ckernel_memory_file(const char *label);

/* Seals a file in memory against changes. Returns 0, or -1 with errno. */
int ckernel_seal(int file);

/* Sends bytes and an open file over a local socket, without SIGPIPE. Returns as sendmsg(2). */
ssize_t ckernel_send_file(int socket, const void *bytes, size_t count, int file);

/* Receives bytes and, in `*file`, an open file or -1. Returns as recvmsg(2). */
ssize_t ckernel_receive_file(int socket, void *bytes, size_t count, int *file);

/* Limits a child to `seconds` more of processor time; after that the kernel sends SIGXCPU. Returns 0, or -1 with errno. */
int ckernel_limit_processor_time(pid_t child, uint64_t seconds);

/* Returns freed memory to the kernel. */
void ckernel_release_memory(void);

/* Merges freed memory at once. By default glibc merges small pieces only when a large one is requested, which is most of
   the cost of memory for a daemon that often requests large ones. */
void ckernel_join_freed_memory(void);

/* The user of the client of a TCP connection over 127.0.0.1, by the ports of both ends (sock_diag(7)); -1 if the kernel
   does not tell. */
int64_t ckernel_loopback_user(uint16_t client_port, uint16_t server_port);
