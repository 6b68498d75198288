#include "APIDescription.h"

static const unsigned char description[] = {
#embed "openapi.json"
};

const unsigned char *APIDescription_bytes(void) { return description; }

size_t APIDescription_count(void) { return sizeof description; }
