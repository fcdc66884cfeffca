/* The ways to open a file, for what is preloaded: `creation_meets` is asked before a file may be made, and answers whether
   that has to fail, with errno set. The one who includes this defines it. OPENINGS_MEMINFO is a file that programs find
   in place of /proc/meminfo: how much waits for the disks of this machine is chance. */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int creation_meets(int directory, const char *path, unsigned long long flags);

static const char *found_at(const char *path) {
  const char *instead = getenv("OPENINGS_MEMINFO");
  return instead && strcmp(path, "/proc/meminfo") == 0 ? instead : path;
}

/* openat2 has no function of its own. */
long syscall(long number, ...) {
  static long (*next)(long, ...);
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  if (number == SYS_openat2 && creation_meets((int)a[0], (const char *)a[1], ((const struct open_how *)a[2])->flags))
    return -1;
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define OPENING(name)                                                          \
  int name(const char *path, int flags, ...) {                                 \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    mode_t mode = va_arg(arguments, mode_t);                                   \
    va_end(arguments);                                                         \
    if (creation_meets(AT_FDCWD, path, (unsigned)flags)) return -1;            \
    return NEXT(name)(found_at(path), flags, mode);                            \
  }
#define OPENING_AT(name)                                                       \
  int name(int directory, const char *path, int flags, ...) {                  \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    mode_t mode = va_arg(arguments, mode_t);                                   \
    va_end(arguments);                                                         \
    if (creation_meets(directory, path, (unsigned)flags)) return -1;           \
    return NEXT(name)(directory, path, flags, mode);                           \
  }
OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)
