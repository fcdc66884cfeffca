/* Preloaded into the daemon: kills it with SIGKILL just before the k-th call that changes the disk, counted over all
   threads. KILLPOINT_AT is k, KILLPOINT_COUNTER a file for the count, KILLPOINT_TRACE a file that lists the calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long *counter;
static long kill_at;
static int trace = -1;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void set_up(void) {
  const char *at = getenv("KILLPOINT_AT"), *path = getenv("KILLPOINT_COUNTER"), *trace_path = getenv("KILLPOINT_TRACE");
  if (!at || !path) return;
  kill_at = atol(at);
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || syscall(SYS_ftruncate, file, sizeof *counter) != 0) return;
  counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (trace_path) trace = open(trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void count(const char *call, const char *what) {
  if (!counter) return;
  long number = atomic_fetch_add(counter, 1) + 1;
  if (trace >= 0) {
    char line[600];
    int length = snprintf(line, sizeof line, "%s %s\n", call, what);
    if (length > (int)sizeof line) length = sizeof line;
    syscall(SYS_write, trace, line, (size_t)length);
  }
  if (number == kill_at) syscall(SYS_kill, getpid(), SIGKILL);
}

/* Only files and directories count, not sockets, pipes or timers, whose calls depend on chance. */
static void count_file(const char *call, int file) {
  struct stat status;
  if (!counter || file < 3 || fstat(file, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) return;
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  count(call, path);
}

ssize_t write(int file, const void *bytes, size_t size) {
  count_file("write", file);
  return NEXT(write)(file, bytes, size);
}
ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
  count_file("pwrite", file);
  return NEXT(pwrite)(file, bytes, size, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
  count_file("pwrite", file);
  return NEXT(pwrite64)(file, bytes, size, at);
}
int fsync(int file) {
  count_file("fsync", file);
  return NEXT(fsync)(file);
}
int fdatasync(int file) {
  count_file("fdatasync", file);
  return NEXT(fdatasync)(file);
}
int ftruncate(int file, off_t size) {
  count_file("ftruncate", file);
  return NEXT(ftruncate)(file, size);
}
int ftruncate64(int file, off64_t size) {
  count_file("ftruncate", file);
  return NEXT(ftruncate64)(file, size);
}
int renameat(int from_directory, const char *from, int to_directory, const char *to) {
  count("renameat", to);
  return NEXT(renameat)(from_directory, from, to_directory, to);
}
int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
  count("renameat2", to);
  return NEXT(renameat2)(from_directory, from, to_directory, to, flags);
}
int mkdirat(int directory, const char *path, mode_t mode) {
  count("mkdirat", path);
  return NEXT(mkdirat)(directory, path, mode);
}
int unlinkat(int directory, const char *path, int flags) {
  count("unlinkat", path);
  return NEXT(unlinkat)(directory, path, flags);
}
int unlink(const char *path) {
  count("unlink", path);
  return NEXT(unlink)(path);
}
