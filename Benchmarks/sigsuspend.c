/* Valgrind writes into the mask that sigsuspend is given. libdispatch's lies where nobody may write: it gets a copy. */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
  sigset_t copy = *mask;
  return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}
