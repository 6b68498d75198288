#include "CClientSQLite.h"
