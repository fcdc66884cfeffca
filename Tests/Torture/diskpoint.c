/* Preloaded into programs: a disk that fails at the k-th call which changes it, counted over all threads of all processes
   that share the counter. Only what lies below DISKPOINT_UNDER counts.

       DISKPOINT_UNDER    the directory; without it nothing is done at all
       DISKPOINT_STATE    a file that the processes share: four longs, `struct state` below
       DISKPOINT_AT       k; 0 only counts
       DISKPOINT_CALLS    the calls that count, as "fsync,fdatasync"; by default all that change the disk. Reads, the opening of
                          what is there ("open") and the wait of sync_file_range count where they are named
       DISKPOINT_ACT      what happens at k. "cut": the power goes, and what the disk was not asked to keep is lost;
                          "cut-log": likewise, but the names reach the disk and only the data is lost; both kill the
                          program. "log-stops": what the disk was not asked to keep is lost, and the program lives and
                          goes on. "stop": the program is stopped before the call, so that somebody can do something to
                          the disk. A number: the call fails with that errno
       DISKPOINT_FOR      how many calls fail from the k-th on; 0 is all, until `is_mended` is set. 1 by default
       DISKPOINT_NOSYNC   ends of paths, as "/photo:/new", whose syncs do nothing and succeed; each counts as a fault. Where
                          DISKPOINT_CALLS is "unsynced" only the k-th of them does nothing, and the act happens there
       DISKPOINT_DELAY    milliseconds that a sync takes longer
       DISKPOINT_RAGGED   reads and writes take at most so many bytes, and every third is interrupted first
       DISKPOINT_TRACE    a file that gets a line for each call

   A descriptor that is synced again after its sync failed is counted in `second_syncs`. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "openings.h"

struct state {
  atomic_long calls, faults, second_syncs, is_mended;
};

/* The same number on ext4 and XFS: the file system behaves as if its disk had gone. */
#define SHUTDOWN _IOR('X', 125, unsigned)
#define DESCRIPTORS 4096

static struct state *state;
static const char *under, *calls, *unsynced;
static size_t under_length;
static long at, amount = 1, delay, ragged;
static int act, trace = -1, disk = -1, stops, kills;
static unsigned cut_flag;
static atomic_bool has_failed[DESCRIPTORS];
static _Thread_local unsigned turn;

static long number_of(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

__attribute__((constructor)) static void set_up(void) {
  const char *path = getenv("DISKPOINT_STATE"), *what = getenv("DISKPOINT_ACT"), *trace_path = getenv("DISKPOINT_TRACE");
  under = getenv("DISKPOINT_UNDER");
  if (!under || !path) return;
  under_length = strlen(under);
  calls = getenv("DISKPOINT_CALLS");
  unsynced = getenv("DISKPOINT_NOSYNC");
  at = number_of("DISKPOINT_AT", 0);
  amount = number_of("DISKPOINT_FOR", 1);
  delay = number_of("DISKPOINT_DELAY", 0);
  ragged = number_of("DISKPOINT_RAGGED", 0);
  kills = what && strncmp(what, "cut", 3) == 0;
  if (what && (kills || strcmp(what, "log-stops") == 0)) {
    cut_flag = strcmp(what, "cut-log") == 0 ? 1 : 2;
    disk = (int)syscall(SYS_openat, AT_FDCWD, under, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  } else if (what && strcmp(what, "stop") == 0) {
    stops = 1;
  } else if (what) {
    act = atoi(what);
  }
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || syscall(SYS_ftruncate, file, sizeof *state) != 0) abort();
  struct state *shared = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) abort();
  syscall(SYS_close, file);
  if (trace_path) trace = (int)syscall(SYS_openat, AT_FDCWD, trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  state = shared;
}

static int lists(const char *list, const char *word, char separator) {
  size_t length = strlen(word);
  for (const char *found = list; (found = strstr(found, word)); found++)
    if ((found == list || found[-1] == separator) && (found[length] == 0 || found[length] == separator)) return 1;
  return 0;
}

static int is_under(const char *path) {
  return strncmp(path, under, under_length) == 0 && (path[under_length] == '/' || path[under_length] == 0);
}

/* The path of an open file or directory below DISKPOINT_UNDER; false for everything else. */
static int path_of(int file, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, size - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_under(path);
}

static int path_at(int directory, const char *name, char *path, size_t size) {
  char parent[1024];
  if (name[0] == '/') {
    snprintf(path, size, "%s", name);
    return is_under(path);
  }
  if (directory == AT_FDCWD) {
    if (!getcwd(parent, sizeof parent)) return 0;
    snprintf(path, size, "%s/%s", parent, name);
    return is_under(path);
  }
  if (!path_of(directory, parent, sizeof parent)) return 0;
  snprintf(path, size, "%s/%s", parent, name);
  return 1;
}

/* Counts a call; true when it is one of those that have the fault. */
static int hits(const char *call, const char *path) {
  if (calls && !lists(calls, call, ',')) return 0;
  long number = atomic_fetch_add(&state->calls, 1) + 1;
  if (trace >= 0) {
    char line[2300];
    int length = snprintf(line, sizeof line, "%s %s\n", call, path);
    syscall(SYS_write, trace, line, (size_t)(length < (int)sizeof line ? length : (int)sizeof line));
  }
  if (at <= 0 || number < at || (amount > 0 && number >= at + amount) || atomic_load(&state->is_mended)) return 0;
  atomic_fetch_add(&state->faults, 1);
  return 1;
}

static void shut_down(void) {
  unsigned flag = cut_flag;
  syscall(SYS_ioctl, disk, SHUTDOWN, &flag);
  if (kills) syscall(SYS_kill, getpid(), SIGKILL);
}

/* Counts a call, and does what happens there; true when it has to fail, with errno set. */
static int meets(const char *call, const char *path) {
  if (!hits(call, path)) return 0;
  if (disk >= 0) return shut_down(), 0;
  if (stops) syscall(SYS_kill, getpid(), SIGSTOP);
  if (!act) return 0;
  errno = act;
  return 1;
}

static int is_named(const char *call) { return state && calls && lists(calls, call, ','); }

static int file_meets(const char *call, int file) {
  char path[2048];
  return state && file > 2 && path_of(file, path, sizeof path) && meets(call, path);
}

static int name_meets(const char *call, int directory, const char *name) {
  char path[2048];
  return state && path_at(directory, name, path, sizeof path) && meets(call, path);
}

static int ends_as(const char *path, const char *list) {
  size_t length = strlen(path);
  while (list && *list) {
    const char *end = strchrnul(list, ':');
    size_t size = (size_t)(end - list);
    if (size && size <= length && strncmp(path + length - size, list, size) == 0) return 1;
    list = *end ? end + 1 : end;
  }
  return 0;
}

/* Whether a sync does nothing. */
static int is_skipped(const char *path) {
  if (!ends_as(path, unsynced)) return 0;
  if (!is_named("unsynced")) return atomic_fetch_add(&state->faults, 1), 1;
  if (!hits("unsynced", path)) return 0;
  if (disk >= 0) shut_down();
  return 1;
}

static int sync_file(const char *call, int file, int (*next)(int)) {
  char path[2048];
  if (!state || !path_of(file, path, sizeof path)) return next(file);
  if (is_skipped(path)) return 0;
  if (delay) {
    struct timespec time = {delay / 1000, delay % 1000 * 1000000};
    nanosleep(&time, NULL);
  }
  int is_known = file < DESCRIPTORS;
  if (is_known && atomic_load(&has_failed[file])) {
    atomic_fetch_add(&state->second_syncs, 1);
    if (trace >= 0) dprintf(trace, "SECOND %s %s\n", call, path);
  }
  int failed = meets(call, path) || next(file) != 0;
  if (failed && is_known && errno != EINTR) atomic_store(&has_failed[file], 1);
  return failed ? -1 : 0;
}

int fsync(int file) { return sync_file("fsync", file, NEXT(fsync)); }
int syncfs(int file) { return sync_file("syncfs", file, NEXT(syncfs)); }
int fdatasync(int file) { return sync_file("fdatasync", file, NEXT(fdatasync)); }

/* Its uses are to write files back before they are synced, and to hear after a sync of all whether that went well. */
int sync_file_range(int file, off64_t from, off64_t size, unsigned flags) {
  char path[2048];
  if (state && path_of(file, path, sizeof path) && ends_as(path, unsynced)) return 0;
  if ((flags & SYNC_FILE_RANGE_WAIT_BEFORE) && is_named("sync_file_range") && file_meets("sync_file_range", file)) return -1;
  return NEXT(sync_file_range)(file, from, size, flags);
}

int close(int file) {
  if (file >= 0 && file < DESCRIPTORS) atomic_store(&has_failed[file], 0);
  /* A failing close has closed all the same. */
  int fails = file_meets("close", file);
  int code = errno, status = NEXT(close)(file);
  if (!fails) return status;
  errno = code;
  return -1;
}

/* How much of `size` bytes a ragged read or write takes now; 0 when it is interrupted. */
static size_t ragged_size(int file, size_t size) {
  char path[2048];
  if (!state || !ragged || !size || !path_of(file, path, sizeof path)) return size;
  if (++turn % 3 == 0) {
    errno = EINTR;
    atomic_fetch_add(&state->faults, 1);
    return 0;
  }
  if (size <= (size_t)ragged) return size;
  atomic_fetch_add(&state->faults, 1);
  return (size_t)ragged;
}

/* SQLite takes a short read for the end of its file, and stands at a place; it is read whole there. */
#define MOVING(name, parameters, arguments, is_write)            \
  ssize_t name parameters {                                      \
    if ((is_write || is_named(#name)) && file_meets(#name, file)) return -1; \
    size_t whole = size;                                         \
    size = ragged_size(file, size);                              \
    return !size && whole ? -1 : NEXT(name) arguments;           \
  }
MOVING(write, (int file, const void *bytes, size_t size), (file, bytes, size), 1)
MOVING(pwrite, (int file, const void *bytes, size_t size, off_t place), (file, bytes, size, place), 1)
MOVING(pwrite64, (int file, const void *bytes, size_t size, off64_t place), (file, bytes, size, place), 1)
MOVING(read, (int file, void *bytes, size_t size), (file, bytes, size), 0)
MOVING(pread, (int file, void *bytes, size_t size, off_t place), (file, bytes, size, place), 0)
MOVING(pread64, (int file, void *bytes, size_t size, off64_t place), (file, bytes, size, place), 0)

#define OF_FILE(type, name, parameters, arguments) \
  type name parameters {                           \
    if (file_meets(#name, file)) return -1;        \
    return NEXT(name) arguments;                   \
  }
OF_FILE(ssize_t, writev, (int file, const struct iovec *pieces, int count), (file, pieces, count))
OF_FILE(int, ftruncate, (int file, off_t size), (file, size))
OF_FILE(int, ftruncate64, (int file, off64_t size), (file, size))
OF_FILE(int, fchmod, (int file, mode_t mode), (file, mode))

/* These two answer with the error itself. */
int posix_fallocate(int file, off_t from, off_t size) {
  return file_meets("posix_fallocate", file) ? errno : NEXT(posix_fallocate)(file, from, size);
}
int posix_fallocate64(int file, off64_t from, off64_t size) {
  return file_meets("posix_fallocate64", file) ? errno : NEXT(posix_fallocate64)(file, from, size);
}

#define OF_NAME(name, directory, what, parameters, arguments)    \
  int name parameters {                                          \
    if (name_meets(#name, directory, what)) return -1;           \
    return NEXT(name) arguments;                                 \
  }
OF_NAME(rename, AT_FDCWD, to, (const char *from, const char *to), (from, to))
OF_NAME(renameat, b, to, (int a, const char *from, int b, const char *to), (a, from, b, to))
OF_NAME(renameat2, b, to, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))
OF_NAME(mkdir, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))
OF_NAME(mkdirat, directory, path, (int directory, const char *path, mode_t mode), (directory, path, mode))
OF_NAME(rmdir, AT_FDCWD, path, (const char *path), (path))
OF_NAME(unlink, AT_FDCWD, path, (const char *path), (path))
OF_NAME(unlinkat, directory, path, (int directory, const char *path, int flags), (directory, path, flags))

static int creation_meets(int directory, const char *path, unsigned long long flags) {
  if (flags & O_CREAT) return name_meets("create", directory, path);
  return is_named("open") && name_meets("open", directory, path);
}
