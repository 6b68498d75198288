#include "CAPIDescription.h"

static const unsigned char description[] = {
#embed "openapi.json"
};

const unsigned char *CAPIDescription_bytes(void) { return description; }

size_t CAPIDescription_count(void) { return sizeof description; }
