/* A VFS shim that writes pages into a database without remains of rows that were moved or deleted. SQLite moves rows from page
   to page to keep its trees balanced, and secure_delete overwrites only those that are deleted (3.40.1). The remains lie
   in the unused space between a page's index of rows and its first row: zeros are written there.

   Each file is opened by SQLite's own VFS. Behind what that keeps of it lies a copy of its methods, in which xWrite is ours. */
#include "csqlite.h"
#include <sqlite3.h>
#include <string.h>

enum {
  largest_page = 65536,
  /* Where the file's header tells whether there are pointer maps, in four bytes of which one is not 0 then. */
  pointer_map_field = 52,
  /* In the page that holds this byte SQLite keeps its locks, and nothing else. */
  locked_byte = 0x40000000
};

struct methods {
  sqlite3_io_methods ours;
  const sqlite3_io_methods *own;
};

static sqlite3_vfs *base;
static sqlite3_vfs zeroing;

static int number(const unsigned char *at) { return at[0] << 8 | at[1]; }

/* Finds the room of a page that nobody reads. Returns 0 where there is none, or nothing but zeros, or no page of a tree. */
static int gap(const unsigned char *page, int size, int is_first, int *begin, int *end) {
  const unsigned char *header = page + (is_first ? 100 : 0);
  if (*header != 2 && *header != 5 && *header != 10 && *header != 13) return 0;
  const unsigned char *index = header + (*header < 10 ? 12 : 8);
  int rows = number(header + 3);
  *begin = (int)(index - page) + 2 * rows;
  *end = number(header + 5) ? number(header + 5) : largest_page;
  if (*begin >= *end || *end > size) return 0;
  for (int row = 0; row < rows; row++) {
    int start = number(index + 2 * row);
    if (start < *end || start >= size) return 0;
  }
  return page[*begin] || memcmp(page + *begin, page + *begin + 1, (size_t)(*end - *begin - 1));
}

/* Whether the page, counted from 1, lists who points to the pages behind it, where there are such lists. It may begin like a page
   of a tree. */
static int may_be_pointer_map(sqlite3_int64 page, int size) {
  if (page < 2) return 0;
  int span = size / 5 + 1;
  sqlite3_int64 map = 2 + (page - 2) / span * span;
  return page == (map == locked_byte / size + 1 ? map + 1 : map);
}

static int write_zeroed(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
  const sqlite3_io_methods *own = ((const struct methods *)file->pMethods)->own;
  sqlite3_int64 page = offset / size + 1;
  int begin, end;
  /* A write that is not one whole page passes unchanged. */
  if (size < 512 || size > largest_page || size & (size - 1) || offset % size || page >= CSQLITE_MOST_PAGES ||
      !gap(bytes, size, page == 1, &begin, &end))
    return own->xWrite(file, bytes, size, offset);
  if (may_be_pointer_map(page, size)) {
    int field = 0;
    if (own->xRead(file, &field, 4, pointer_map_field) != SQLITE_OK || field) return own->xWrite(file, bytes, size, offset);
  }
  unsigned char copy[largest_page];
  memcpy(copy, bytes, (size_t)size);
  memset(copy + begin, 0, (size_t)(end - begin));
  return own->xWrite(file, copy, size, offset);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
  (void)vfs;
  int code = base->xOpen(base, name, file, flags, out);
  if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB)) return code;
  struct methods *methods = (struct methods *)((char *)file + zeroing.szOsFile - sizeof(struct methods));
  methods->ours = *file->pMethods;
  methods->ours.xWrite = write_zeroed;
  methods->own = file->pMethods;
  file->pMethods = &methods->ours;
  return SQLITE_OK;
}

int csqlite_set_up(void) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3_config(SQLITE_CONFIG_URI, 1);
  base = sqlite3_vfs_find(NULL);
  if (!base) return SQLITE_ERROR;
  zeroing = *base;
  zeroing.zName = CSQLITE_VFS;
  zeroing.pNext = NULL;
  zeroing.szOsFile = (base->szOsFile + 15) / 16 * 16 + (int)sizeof(struct methods);
  zeroing.xOpen = open_file;
  return sqlite3_vfs_register(&zeroing, 0);
}
