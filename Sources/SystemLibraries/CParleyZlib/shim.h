#include <zlib.h>

// A macro, which Swift does not import. 16 added to the window bits selects the gzip format.

static inline int CZlib_beginGzip(z_stream *stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}
