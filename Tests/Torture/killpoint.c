/* Preloaded into programs: kills the one that makes the k-th call that changes the disk, just before that call, counted
   over all threads of all processes that share the counter.

       KILLPOINT_AT       k; 0 only counts
       KILLPOINT_COUNTER  a file that holds the count, as a long
       KILLPOINT_TRACE    a file that gets a line for each call (optional)
       KILLPOINT_SIGNAL   what the program gets instead of SIGKILL: 19 stops it where it is (optional)
       KILLPOINT_SOCKETS  when it is set, what is sent on IP sockets counts, too (optional)
       KILLPOINT_ONLY     the one call that counts, as it is in the trace: it may also be one that changes nothing, as
                          "inotify_add_watch PATH", "fdopendir PATH" or "readdir PATH" (optional) */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "openings.h"

static atomic_long *counter;
static long kill_at;
static int trace = -1, kill_signal = SIGKILL, counts_sockets;
static const char *only;

__attribute__((constructor)) static void set_up(void) {
  const char *at = getenv("KILLPOINT_AT"), *path = getenv("KILLPOINT_COUNTER"), *trace_path = getenv("KILLPOINT_TRACE");
  const char *signal_number = getenv("KILLPOINT_SIGNAL");
  if (!at || !path) return;
  kill_at = atol(at);
  if (signal_number) kill_signal = atoi(signal_number);
  counts_sockets = getenv("KILLPOINT_SOCKETS") != NULL;
  only = getenv("KILLPOINT_ONLY");
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || syscall(SYS_ftruncate, file, sizeof *counter) != 0) return;
  atomic_long *shared = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (trace_path) trace = (int)syscall(SYS_openat, AT_FDCWD, trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (shared != MAP_FAILED) counter = shared;
}

static void count(const char *call, const char *what) {
  if (!counter) return;
  char line[600];
  int length = snprintf(line, sizeof line, "%s %s", call, what);
  if (length >= (int)sizeof line) length = sizeof line - 1;
  if (only && strcmp(line, only) != 0) return;
  long number = atomic_fetch_add(counter, 1) + 1;
  if (trace >= 0) {
    line[length++] = '\n';
    syscall(SYS_write, trace, line, (size_t)length);
  }
  if (number == kill_at) syscall(SYS_kill, getpid(), kill_signal);
}

/* Only descriptors of files and directories count; calls on pipes and timers vary by chance. */
static void count_file(const char *call, int file) {
  struct stat status;
  if (!counter || file < 3 || fstat(file, &status) != 0) return;
  if (S_ISSOCK(status.st_mode) && counts_sockets) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(file, (struct sockaddr *)&address, &size) == 0
        && (address.ss_family == AF_INET || address.ss_family == AF_INET6)) count(call, "socket");
    return;
  }
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return;
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  /* Memory that has a descriptor is on no disk. */
  if (strncmp(path, "/memfd:", 7) != 0) count(call, path);
}

static int creation_meets(int directory, const char *path, unsigned long long flags) {
  (void)directory;
  if (flags & O_CREAT) count("create", path);
  return 0;
}

#define OF_FILE(type, name, parameters, arguments) \
  type name parameters {                           \
    count_file(#name, file);                       \
    return NEXT(name) arguments;                   \
  }
OF_FILE(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))
OF_FILE(ssize_t, writev, (int file, const struct iovec *pieces, int count), (file, pieces, count))
OF_FILE(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
OF_FILE(ssize_t, pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at))
OF_FILE(ssize_t, send, (int file, const void *bytes, size_t size, int flags), (file, bytes, size, flags))
OF_FILE(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags))
OF_FILE(int, fsync, (int file), (file))
OF_FILE(int, fdatasync, (int file), (file))
OF_FILE(int, syncfs, (int file), (file))
OF_FILE(int, sync_file_range, (int file, off64_t from, off64_t size, unsigned flags), (file, from, size, flags))
OF_FILE(int, ftruncate, (int file, off_t size), (file, size))
OF_FILE(int, ftruncate64, (int file, off64_t size), (file, size))
OF_FILE(int, fallocate, (int file, int mode, off_t from, off_t size), (file, mode, from, size))
OF_FILE(int, fallocate64, (int file, int mode, off64_t from, off64_t size), (file, mode, from, size))
OF_FILE(int, fchmod, (int file, mode_t mode), (file, mode))

#define OF_NAME(name, what, parameters, arguments) \
  int name parameters {                            \
    count(#name, what);                            \
    return NEXT(name) arguments;                   \
  }
OF_NAME(rename, to, (const char *from, const char *to), (from, to))
OF_NAME(renameat, to, (int a, const char *from, int b, const char *to), (a, from, b, to))
OF_NAME(renameat2, to, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))
OF_NAME(link, to, (const char *from, const char *to), (from, to))
OF_NAME(linkat, to, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))
OF_NAME(mkdir, path, (const char *path, mode_t mode), (path, mode))
OF_NAME(mkdirat, path, (int directory, const char *path, mode_t mode), (directory, path, mode))
OF_NAME(rmdir, path, (const char *path), (path))
OF_NAME(unlink, path, (const char *path), (path))
OF_NAME(unlinkat, path, (int directory, const char *path, int flags), (directory, path, flags))

/* Read-only calls count only where they are asked for by name. */
int inotify_add_watch(int watcher, const char *path, uint32_t events) {
  if (only) count("inotify_add_watch", path);
  return NEXT(inotify_add_watch)(watcher, path, events);
}
DIR *fdopendir(int file) {
  if (only) count_file("fdopendir", file);
  return NEXT(fdopendir)(file);
}
struct dirent *readdir(DIR *directory) {
  if (only) count_file("readdir", dirfd(directory));
  return NEXT(readdir)(directory);
}
