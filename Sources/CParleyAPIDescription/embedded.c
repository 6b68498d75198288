#include "CParleyAPIDescription.h"

// C 23's, which the compiler knows in every older C, too.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char description[] = {
#embed "openapi.json"
};

const unsigned char *CAPIDescription_bytes(void) { return description; }

size_t CAPIDescription_count(void) { return sizeof description; }
