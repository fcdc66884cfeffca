#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "csandbox.h"

static int open_file(void) { return open("/etc/passwd", O_RDONLY | O_CLOEXEC); }
static int create_file(void) { return open("/tmp/photospool-probe", O_WRONLY | O_CREAT | O_CLOEXEC, 0600); }
static int list_directory(void) { return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }
static int open_socket(void) { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
static int open_local_socket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

static int start_process(void) {
  const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  return child;
}

static int execute(void) {
  char *const none[] = {NULL};
  return execve("/bin/true", none, none);
}

static pid_t parent;

static int trace_parent(void) { return (int)ptrace(PTRACE_ATTACH, parent, NULL, NULL); }
// Signal 0 only checks the permission.
static int signal_parent(void) { return kill(parent, 0); }

static int map_executable(void) {
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? -1 : 0;
}

static int raise_limits(void) {
  const struct rlimit limits = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  return setrlimit(RLIMIT_AS, &limits);
}

size_t csandbox_probe(pid_t parent_process, csandbox_attempt *attempts, size_t room) {
  parent = parent_process;
  static const struct {
    const char *name;
    int (*attempt)(void);
  } all[] = {
    {"open a file", open_file},
    {"create a file", create_file},
    {"list a directory", list_directory},
    {"open a network socket", open_socket},
    {"open a local socket", open_local_socket},
    {"start a process", start_process},
    {"execute a program", execute},
    {"trace the parent", trace_parent},
    {"signal the parent", signal_parent},
    {"map executable memory", map_executable},
    {"raise its limits", raise_limits},
  };
  size_t count = 0;
  for (; count < sizeof all / sizeof *all && count < room; count++) {
    errno = 0;
    const int result = all[count].attempt();
    attempts[count] = (csandbox_attempt){.name = all[count].name, .error = result < 0 ? errno : 0};
  }
  return count;
}
