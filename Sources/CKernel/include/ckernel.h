/* System calls that Swift cannot reach by itself: variadic ones, ones without a glibc wrapper, and GNU extensions. */
#pragma once
#include <dirent.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* openat2(2) with RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS | NO_XDEV: never leaves `directory`, never follows a
   link. Returns a descriptor, or -1 with errno. Where the kernel has no openat2 it falls back to openat with
   O_NOFOLLOW, and a `name` of more than one component gets EXDEV. What is opened for reading keeps its time of
   reading: to set that costs more than to read a small file. Only an owner may ask for it, so that this process asks for it no
   more once it has met a file of somebody else. */
int ckernel_open_beneath(int directory, const char *name, int flags, mode_t mode);

/* Writes what standard output still holds. Whether that, or anything before, could not be written. */
bool ckernel_output_failed(void);

/* renameat2(2) with RENAME_NOREPLACE. Where the file system cannot do that, a look and then a rename: what takes the name in
   between is replaced, unless it is a directory with anything in it, as a request is. */
int ckernel_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to);

/* posix_spawn_file_actions_addclosefrom_np(3): the child keeps no descriptor from `first` on. Returns 0, or an errno. */
int ckernel_close_from(posix_spawn_file_actions_t *actions, int first);

/* Where the name begins in what readdir(3) gives. */
const char *ckernel_entry_name(const struct dirent *entry);

/* Reads further records of a directory as getdents64(2) does. Returns their bytes; 0 at the end, -1 and errno on an error. */
ssize_t ckernel_read_records(int directory, void *records, size_t bytes);

/* What one record tells: `type` as DT_REG and its like, and after how many bytes the next one begins. */
typedef struct {
  const char *name;
  unsigned char type;
  size_t length;
} ckernel_record;
ckernel_record ckernel_record_at(const void *record);

/* Starts write-back of a file's dirty pages without waiting for it: a hint that makes many fsyncs share their work. */
void ckernel_start_writeback(int file);

/* Whether syncfs(2) promises that all of the file system of `directory` is on its disk, and tells of errors, as it does since
   Linux 5.17: 1 yes, 0 no or not known. */
int ckernel_syncs_whole(int directory);

/* syncfs(2). */
int ckernel_sync_whole(int directory);

/* Waits for the write-back of `file` that has begun, and asks for no more. 0, or -1 with errno when any of it failed since the
   file was opened, or before and nobody has heard of it. */
int ckernel_await_writeback(int file);

/* Bytes of the file system of `directory` that this process may still fill; -1 with errno when it cannot be asked. */
int64_t ckernel_free_bytes(int directory);

/* Whether some process holds `file` open for writing: 1 yes, 0 no, -1 the kernel would not tell. */
int ckernel_has_writer(int file);

/* Has all that is made below `directory` from here on give `user` everything, its owner what its mode says, and its group
   and others nothing: a default ACL. The umask of whoever makes something counts no more then, and its mode is a mask for the
   user. Nothing is done where a default ACL gives the user everything. 0, or -1 with errno. */
int ckernel_grant_by_default(int directory, uid_t user);

/* Whether a default ACL of `directory` gives `user` everything: 1 yes, 0 no, -1 with errno: EOPNOTSUPP where the file system
   keeps none. */
int ckernel_grants_by_default(int directory, uid_t user);

/* Takes away what a default ACL gave to `file` when it was made. 0, or -1 with errno. */
int ckernel_drop_acl(int file);

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

/* The commit that this was built from by `make build`; empty otherwise. */
const char *ckernel_commit(void);

/* A pseudo-terminal's or terminal's width in columns, or 0. */
int ckernel_terminal_columns(int terminal);

/* Its height in lines, or 0. */
int ckernel_terminal_rows(int terminal);

/* Lets this process, and those that it starts, have so many descriptors, as far as it may; answers how many that are. */
long ckernel_allow_descriptors(long wanted);

/* From here on, neither this process nor one that it starts leaves its memory in a file when it crashes. */
void ckernel_refuse_core_files(void);

/* From here on, a page of a file that is mapped and cannot be had ends the process with `status`, after `sentence` on
   standard error, of which the system keeps no copy: it must stay. */
void ckernel_end_on_bus_error(const char *sentence, int status);

/* Two ends of a pipe, to read from and to write to, that no program inherits by chance; reading does not block.
   0, or -1 with errno. */
int ckernel_pipe(int ends[2]);

/* A descriptor that becomes readable when a child of this process has ended, or -1. */
int ckernel_watch_process(pid_t child);

/* Has a program begin in the directory `/`. 0, or an error number. */
int ckernel_begin_in_root(posix_spawn_file_actions_t *actions);

/* accept4(2) with SOCK_CLOEXEC. */
int ckernel_accept(int socket);

/* A file in memory that nobody else can name, or -1. `label` is for people who look into /proc. */
int ckernel_memory_file(const char *label);

/* Seals a file in memory: from here on nobody can change or resize it. 0, or -1 with errno. */
int ckernel_seal(int file);

/* Sends bytes over a local socket together with an open file. Returns what sendmsg(2) does; no SIGPIPE comes of it. */
ssize_t ckernel_send_file(int socket, const void *bytes, size_t count, int file);

/* Receives bytes and, in `*file`, the open file that came with them or -1. Returns what recvmsg(2) does. */
ssize_t ckernel_receive_file(int socket, void *bytes, size_t count, int *file);

/* Lets a child use `seconds` more of processor time than it has used; then the kernel ends it with SIGXCPU.
   0, or -1 with errno. */
int ckernel_limit_processor_time(pid_t child, uint64_t seconds);

/* Gives memory that was freed back to the kernel. */
void ckernel_release_memory(void);

/* Has freed pieces of memory joined at once. By default glibc keeps small ones apart, and joins all of them whenever a large
   piece is asked for: for a daemon that asks for large ones all the time, that is most of what memory costs. */
void ckernel_join_freed_memory(void);

