#ifndef CALLOCATIONCOUNT_H
#define CALLOCATIONCOUNT_H

#include <stdint.h>

/// Blocks of memory that this thread has asked for so far; -1 where a sanitizer has the allocator.
///
/// Linking this target puts a counter before malloc and its relatives in the whole test program.
int64_t parley_allocation_count(void);

#endif
