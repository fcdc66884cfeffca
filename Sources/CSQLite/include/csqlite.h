/* SQLite for Swift, which cannot call its variadic functions. Everything else of it comes by way of GRDB. */
#pragma once

/* Has SQLite not count the bytes that it holds, which takes a lock and two more calls for each piece of memory: a tenth of the
   ledger's time. Before anything else is asked of SQLite, by one thread; later it changes nothing. */
void csqlite_count_no_memory(void);
