#include "ckernel.h"

/* `make build` writes it. */
#if __has_include("commit.h")
#include "commit.h"
#else
#define COMMIT ""
#endif

const char *ckernel_commit(void) { return COMMIT; }
