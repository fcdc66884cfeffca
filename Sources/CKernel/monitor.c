/* libdispatch looks once a second whether the threads of its pools are blocked, by a timer that it starts with the first such
   thread and never stops: a process that does nothing would be woken for ever. Here the timer stands still while there are no
   such threads, when there is nothing to look at.

   A thread of a pool tells so with its first and its last step, which are two functions of libdispatch; the first one ever
   makes the timer. `make build` has the linker put the functions below in their place (--wrap). Where the linker was not
   told, nothing here is ever called. Nothing is lost by it: work that comes when there is no thread begins one, and the
   timer runs before that thread has work. */
#include <pthread.h>
#include <stdint.h>

#define WEAK __attribute__((weak))

WEAK void __real__dispatch_workq_worker_register(void *queue);
WEAK void __real__dispatch_workq_worker_unregister(void *queue);
WEAK void __real_dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway);
WEAK void dispatch_resume(void *object);
WEAK void dispatch_suspend(void *object);

void __wrap__dispatch_workq_worker_register(void *queue);
void __wrap__dispatch_workq_worker_unregister(void *queue);
void __wrap_dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long workers;
static void *monitor;
static _Thread_local int is_registering;

void __wrap_dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway) {
  if (is_registering) monitor = source;
  __real_dispatch_source_set_timer(source, start, interval, leeway);
}

void __wrap__dispatch_workq_worker_register(void *queue) {
  pthread_mutex_lock(&lock);
  if (workers++ == 0 && monitor) dispatch_resume(monitor);
  is_registering = 1;
  __real__dispatch_workq_worker_register(queue);
  is_registering = 0;
  pthread_mutex_unlock(&lock);
}

void __wrap__dispatch_workq_worker_unregister(void *queue) {
  pthread_mutex_lock(&lock);
  __real__dispatch_workq_worker_unregister(queue);
  if (--workers == 0 && monitor) dispatch_suspend(monitor);
  pthread_mutex_unlock(&lock);
}
