#include <sqlite3.h>

// Retains the write-ahead log when the last connection closes. The function is variadic, so Swift cannot call it.
static inline int CSQLite_keepLogAtClose(sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
