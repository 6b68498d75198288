#include "CParleyClientSQLite.h"
