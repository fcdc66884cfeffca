// Gives up privileges with the kernel's own means, without a library.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Gives up, for this process and its future threads: files and directories (Landlock), networks, new privileges, core
// dumps, other processes, and every system call that decoding from memory does not need (seccomp). Descriptors 0 to 3
// stay open, all others are closed. `memory` limits the additional address space in bytes. Returns Landlock's version,
// 0 without Landlock, when only the system call filter protects, or -1 with errno: the process must not touch untrusted
// data then.
int csandbox_enter(uint64_t memory);

// An attempt to break out, with its name and the kernel's error; 0 means that it succeeded.
typedef struct {
  const char *name;
  int32_t error;
} csandbox_attempt;

// Fills `attempts` and returns their number, at most `room`. `parent_process` is the process to attack.
size_t csandbox_probe(pid_t parent_process, csandbox_attempt *attempts, size_t room);
