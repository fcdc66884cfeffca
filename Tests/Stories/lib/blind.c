// Preloaded: no watch of a path with BLIND_TO in it can be made, or every watch is one of WATCHED instead.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int inotify_add_watch(int file, const char *path, unsigned mask) {
  const char *watched = getenv("WATCHED"), *blind = getenv("BLIND_TO");
  if (!blind || !strstr(path, blind)) return (int)syscall(SYS_inotify_add_watch, file, watched ? watched : path, mask);
  errno = ENOSPC;
  return -1;
}
