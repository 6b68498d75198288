#include <sqlite3.h>

// Leaves the write-ahead log as it is when this connection is the last one to close. The option is variadic, which Swift
// cannot call.
static inline int CSQLite_keepLogAtClose(sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
