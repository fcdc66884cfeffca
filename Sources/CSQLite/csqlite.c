#include "csqlite.h"
#include <sqlite3.h>

void csqlite_count_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
