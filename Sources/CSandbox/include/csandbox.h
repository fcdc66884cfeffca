// What a process can give up for good: the kernel's own means, without a library.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Which of the kernel's means are in force.
typedef struct {
  // Landlock's version; 0 where the kernel has none, and the filter of system calls stands alone.
  int32_t landlock;
} csandbox_report;

// Gives up, for this process and all of its threads to come: files and directories (Landlock), networks, new
// privileges, core dumps, other processes, and every system call that decoding from memory does not need (seccomp).
// Descriptors 0 to 3 stay open, all others are closed. `memory` is how many bytes of address space it may map beyond what it has.
//
// Returns 0, or -1 with errno; then the process must not touch anything hostile.
int csandbox_enter(uint64_t memory, csandbox_report *report);

// Tries what a taken-over process would try, from inside. Names what it is and the error that the kernel answered with;
// an error of 0 means that the kernel let it happen.
typedef struct {
  const char *name;
  int32_t error;
} csandbox_attempt;

// Fills `attempts` and returns how many there are, at most `room`. `parent_process` is whom it would attack.
size_t csandbox_probe(pid_t parent_process, csandbox_attempt *attempts, size_t room);
