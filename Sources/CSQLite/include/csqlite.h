/* SQLite for Swift, which cannot call its variadic functions, and the VFS of `CleanPages`. Everything else
   of SQLite comes by way of GRDB. */
#pragma once

/* From here on the page numbers that other kinds of pages begin with could be mistaken for a kind of tree page: pages are
   written as they are. */
#define CSQLITE_MOST_PAGES 0x1000000

/* The name of the VFS: `file:PATH?vfs=zeroing`. */
#define CSQLITE_VFS "zeroing"

/* Sets SQLite up, once in a process: has it read URIs; has it not count the bytes that it holds, which takes a lock and two more
   calls for each piece of memory, a tenth of the ledger's time; and registers the VFS. Where the process has asked SQLite for
   something before, the first two change nothing. Returns SQLite's result code. */
int csqlite_set_up(void);
