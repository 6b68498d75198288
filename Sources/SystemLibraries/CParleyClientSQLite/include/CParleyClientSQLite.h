#ifndef CCLIENTSQLITE_H
#define CCLIENTSQLITE_H

// SQLite for a client's store. Empty on systems other than Linux: Apple's have a module of their own,
// SQLite3.

#ifdef __linux__
#include <sqlite3.h>
#endif

#endif
