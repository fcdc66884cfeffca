#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "csandbox.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the sandbox knows the system calls of x86_64 and aarch64 only"
#endif

// Structures of later kernels that this header may lack; the numbers are from linux/landlock.h of Linux 6.12.
struct ruleset {
  uint64_t files, networks, scopes;
};

enum { first_stray = 4 };
enum { first_with_networks = 4, first_with_scopes = 6 };

// All file rights that a version of Landlock can remove.
static uint64_t file_rights(int version) {
  static const int rights[] = {0, 13, 14, 15, 15, 16};
  const int known = sizeof rights / sizeof *rights - 1;
  return (UINT64_C(1) << rights[version > known ? known : version]) - 1;
}

// Returns Landlock's version, 0 without it, or -1 with errno.
static int give_up_files(void) {
  const int version =
    (int)syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return 0;
  const struct ruleset ruleset = {.files = file_rights(version), .networks = 3, .scopes = 3};
  const size_t size = version >= first_with_scopes ? 24 : version >= first_with_networks ? 16 : 8;
  const int file = (int)syscall(SYS_landlock_create_ruleset, &ruleset, size, 0);
  if (file < 0) return -1;
  // A ruleset without rules allows nothing that it handles.
  const int result = (int)syscall(SYS_landlock_restrict_self, file, 0);
  close(file);
  return result == 0 ? version : -1;
}

static int limit(int resource, uint64_t value) {
  const struct rlimit limits = {.rlim_cur = value, .rlim_max = value};
  return setrlimit(resource, &limits);
}

// Restores default signal handlers. Swift's handlers print a backtrace, which the sandbox prevents, and a handler that
// cannot remove itself would loop.
static int end_at_faults(void) {
  static const int faults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) {
    if (signal(faults[index], SIG_DFL) == SIG_ERR) return -1;
  }
  return 0;
}

static int limit_memory(uint64_t memory) {
  FILE *file = fopen("/proc/self/statm", "re");
  unsigned long pages = 0;
  if (!file) return -1;
  const int found = fscanf(file, "%lu", &pages);
  fclose(file);
  if (found != 1) return -1;
  return limit(RLIMIT_AS, (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) + memory);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(index) LOAD(args[index])
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)
#define DENY ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define ALLOW_CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
// Allows the call unless one of `bits` is set in an argument.
#define ALLOW_CALL_WITHOUT(name, index, bits) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD_ARGUMENT(index), \
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), DENY, ANSWER(SECCOMP_RET_ALLOW)

// LOAD_ARGUMENT loads the lower half of an argument, which has all flags; both architectures are little-endian.
static int filter_calls(void) {
  struct sock_filter filter[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    // The socket to the parent and the photo's descriptor.
    ALLOW_CALL(read), ALLOW_CALL(write), ALLOW_CALL(pread64), ALLOW_CALL(recvmsg), ALLOW_CALL(sendto),
    ALLOW_CALL(close), ALLOW_CALL(fstat), ALLOW_CALL(lseek),
    // Memory that is not executable.
    ALLOW_CALL(brk), ALLOW_CALL(munmap), ALLOW_CALL(mremap), ALLOW_CALL(madvise),
    ALLOW_CALL_WITHOUT(mmap, 2, PROT_EXEC), ALLOW_CALL_WITHOUT(mprotect, 2, PROT_EXEC),
    // Threads, which the HEIC decoder uses. Without CLONE_THREAD it would be a fork.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4), LOAD_ARGUMENT(0),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0), DENY, ANSWER(SECCOMP_RET_ALLOW),
    // A filter cannot see the flags of clone3; without it the C library uses clone.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1), ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
    ALLOW_CALL(futex), ALLOW_CALL(set_robust_list), ALLOW_CALL(rseq), ALLOW_CALL(sched_yield),
    ALLOW_CALL(sched_getaffinity), ALLOW_CALL(gettid), ALLOW_CALL(getpid),
    // Clocks, random numbers, own signals, and exit.
    ALLOW_CALL(clock_gettime), ALLOW_CALL(clock_nanosleep), ALLOW_CALL(gettimeofday), ALLOW_CALL(getrandom),
    ALLOW_CALL(rt_sigprocmask), ALLOW_CALL(rt_sigreturn), ALLOW_CALL(sigaltstack), ALLOW_CALL(restart_syscall),
    ALLOW_CALL(exit), ALLOW_CALL(exit_group),
    DENY,
  };
  const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int csandbox_enter(uint64_t memory) {
  // Closes descriptors that the parent left open by mistake. Kernels before 5.9 lack the call.
  close_range(first_stray, ~0U, 0);
  if (end_at_faults() != 0) return -1;
  // A working directory would keep its filesystem busy.
  if (chdir("/") != 0) return -1;
  if (limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_NOFILE, 16) != 0) return -1;
  if (limit_memory(memory) != 0) return -1;
  // An undumpable process cannot be inspected by others of the same user.
  if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  const int landlock = give_up_files();
  return landlock < 0 || filter_calls() != 0 ? -1 : landlock;
}
