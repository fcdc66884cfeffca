#define _GNU_SOURCE
#include "ckernel.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Each file of somebody else would be opened twice. */
static atomic_bool met_another_owner;

static int open_once(int directory, const char *name, int flags, mode_t mode) {
  struct open_how how;
  memset(&how, 0, sizeof how);
  how.flags = (uint64_t)flags;
  how.mode = (flags & O_CREAT) ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  int file;
  do file = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
  while (file < 0 && errno == EINTR);
  return file;
}

int ckernel_open_beneath(int directory, const char *name, int flags, mode_t mode) {
  const bool keeps_time = (flags & (O_ACCMODE | O_CREAT)) == O_RDONLY && !atomic_load(&met_another_owner);
  int file = open_once(directory, name, keeps_time ? flags | O_NOATIME : flags, mode);
  if (file < 0 && errno == EPERM && keeps_time) {
    file = open_once(directory, name, flags, mode);
    if (file >= 0) atomic_store(&met_another_owner, true);
  }
  if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
  if (strchr(name, '/') || !strcmp(name, "..")) {
    errno = EXDEV;
    return -1;
  }
  return openat(directory, name, flags | O_NOFOLLOW, mode);
}

bool ckernel_output_failed(void) { return fflush(stdout) != 0 || ferror(stdout); }

int ckernel_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to) {
  if (renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE) == 0) return 0;
  // Many network and user-space filesystems answer EINVAL, too.
  if (errno != EINVAL) return -1;
  struct stat there;
  if (fstatat(to_directory, to, &there, AT_SYMLINK_NOFOLLOW) == 0) errno = EEXIST;
  if (errno != ENOENT) return -1;
  return renameat(from_directory, from, to_directory, to);
}

const char *ckernel_entry_name(const struct dirent *entry) { return entry->d_name; }

ssize_t ckernel_read_records(int directory, void *records, size_t bytes) { return getdents64(directory, records, bytes); }

ckernel_record ckernel_record_at(const void *record) {
  const struct dirent64 *entry = record;
  return (ckernel_record){.name = entry->d_name, .type = entry->d_type, .length = entry->d_reclen};
}

void ckernel_start_writeback(int file) {
  int before = errno;
  sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
  errno = before;
}

int ckernel_syncs_whole(int directory) {
  struct utsname system;
  int version, patch;
  if (uname(&system) != 0 || sscanf(system.release, "%d.%d", &version, &patch) != 2) return 0;
  if (version < 5 || (version == 5 && patch < 17)) return 0;
  struct statfs status;
  if (fstatfs(directory, &status) != 0) return 0;
  switch (status.f_type) {
  case EXT4_SUPER_MAGIC:
  case XFS_SUPER_MAGIC:
  case BTRFS_SUPER_MAGIC:
  case F2FS_SUPER_MAGIC:
  case TMPFS_MAGIC: return 1;
  default: return 0;
  }
}

int ckernel_sync_whole(int directory) { return syncfs(directory); }

int ckernel_await_writeback(int file) { return sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE); }

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

int ckernel_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int ckernel_begin_in_root(posix_spawn_file_actions_t *actions) {
  return posix_spawn_file_actions_addchdir_np(actions, "/");
}

int ckernel_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

int ckernel_watch_process(pid_t child) { return (int)syscall(SYS_pidfd_open, child, 0); }

int ckernel_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC); }

static bool put_all(int file, const char *bytes, size_t count, bool is_socket) {
  while (count > 0) {
    const ssize_t written = is_socket ? send(file, bytes, count, MSG_NOSIGNAL) : write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

bool ckernel_write_all(int file, const void *bytes, size_t count) { return put_all(file, bytes, count, false); }

bool ckernel_send_all(int socket, const void *bytes, size_t count) { return put_all(socket, bytes, count, true); }

int ckernel_memory_file(const char *label) { return memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int ckernel_seal(int file) {
  return fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

union control {
  struct cmsghdr header;
  char room[CMSG_SPACE(sizeof(int))];
};

ssize_t ckernel_send_file(int socket, const void *bytes, size_t count, int file) {
  union control control = {0};
  struct iovec data = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {
    .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  memcpy(CMSG_DATA(header), &file, sizeof file);
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t ckernel_receive_file(int socket, void *bytes, size_t count, int *file) {
  union control control = {0};
  struct iovec data = {.iov_base = bytes, .iov_len = count};
  struct msghdr message = {
    .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
  *file = -1;
  ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    memcpy(file, CMSG_DATA(header), sizeof *file);
  }
  return received;
}

int ckernel_limit_processor_time(pid_t child, uint64_t seconds) {
  clockid_t clock;
  struct timespec used;
  int error = clock_getcpuclockid(child, &clock);
  if (error) {
    errno = error;
    return -1;
  }
  struct rlimit limit;
  if (clock_gettime(clock, &used) != 0 || prlimit(child, RLIMIT_CPU, NULL, &limit) != 0) return -1;
  // The kernel counts whole seconds, rounded up for the child.
  limit.rlim_cur = (rlim_t)used.tv_sec + 1 + seconds;
  return prlimit(child, RLIMIT_CPU, &limit, NULL);
}

void ckernel_release_memory(void) { malloc_trim(0); }

void ckernel_join_freed_memory(void) { mallopt(M_MXFAST, 0); }

static const char *bus_sentence;
static size_t bus_length;
static int bus_status;

static void end_on_bus_error(int number) {
  (void)number;
  /* Whether that can be written changes nothing. */
  if (write(STDERR_FILENO, bus_sentence, bus_length) < 0) {}
  _exit(bus_status);
}

void ckernel_end_on_bus_error(const char *sentence, int status) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = end_on_bus_error;
  bus_sentence = sentence;
  bus_length = strlen(sentence);
  bus_status = status;
  sigaction(SIGBUS, &action, NULL);
}

long ckernel_allow_descriptors(long wanted) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlim_t more = limit.rlim_max < (rlim_t)wanted ? limit.rlim_max : (rlim_t)wanted;
  if (more > limit.rlim_cur) {
    const struct rlimit raised = {more, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = more;
  }
  return limit.rlim_cur < INT32_MAX ? (long)limit.rlim_cur : INT32_MAX;
}

void ckernel_refuse_core_files(void) {
  // A core handler in user space ignores every limit except 1, which is also smaller than any core.
  const struct rlimit one = {1, 1}, none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &one) != 0) setrlimit(RLIMIT_CORE, &none);
}

int64_t ckernel_loopback_user(uint16_t client_port, uint16_t server_port) {
  int diag = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (diag < 0) return -1;
  struct {
    struct nlmsghdr header;
    struct inet_diag_req_v2 question;
  } request = {
    .header = {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
    .question = {
      .sdiag_family = AF_INET,
      .sdiag_protocol = IPPROTO_TCP,
      .idiag_states = ~0u,
      .id = {
        .idiag_sport = htons(client_port),
        .idiag_dport = htons(server_port),
        .idiag_src = {htonl(INADDR_LOOPBACK)},
        .idiag_dst = {htonl(INADDR_LOOPBACK)},
        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE},
      },
    },
  };
  union {
    struct nlmsghdr header;
    char bytes[1024];
  } answer;
  int64_t user = -1;
  if (send(diag, &request, sizeof request, 0) == sizeof request) {
    ssize_t length = recv(diag, &answer, sizeof answer, 0);
    if (length > 0 && NLMSG_OK(&answer.header, (size_t)length) && answer.header.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
        answer.header.nlmsg_len >= NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
      user = ((struct inet_diag_msg *)NLMSG_DATA(&answer.header))->idiag_uid;
  }
  close(diag);
  return user;
}
