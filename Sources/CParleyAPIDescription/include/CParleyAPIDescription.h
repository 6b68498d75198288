// The description of the HTTP API, from openapi.json beside this folder.
//
// It is part of the program: a server describes itself, and not the version whose files happen to be there. C embeds
// the file as it is; the Swift compiler takes half a minute for a literal of that length.

#ifndef CAPIDescription_h
#define CAPIDescription_h

#include <stddef.h>

/// The description in OpenAPI 3.1, as JSON in UTF-8, without an end mark.
const unsigned char *CAPIDescription_bytes(void);

/// The number of its bytes.
size_t CAPIDescription_count(void);

#endif
