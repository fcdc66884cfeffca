#include "csqlite.h"
#include <sqlite3.h>

int csqlite_register_zeroing(void);

int csqlite_set_up(void) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3_config(SQLITE_CONFIG_URI, 1);
  return csqlite_register_zeroing();
}
