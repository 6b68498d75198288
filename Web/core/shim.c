// The functions of a C library that Embedded Swift needs, for a module without one.
//
// Memory: blocks are rounded up to a power of two, and each size has a list of free blocks. If the list is empty, the
// block is taken from the end of the linear memory. At most half of the memory is wasted, and a call takes a few
// instructions. A page has one thread.

#include <stddef.h>
#include <stdint.h>

extern unsigned char __heap_base;

enum { header = 16, smallest = 5, largest = 31 };

typedef struct Block {
  uint32_t sizeExponent;
  struct Block *next;
} Block;

static Block *freeBlocks[largest + 1];
static uintptr_t heapEnd;

static unsigned exponentFor(size_t size) {
  unsigned exponent = smallest;
  while (exponent < largest && ((size_t)1 << exponent) < size) exponent += 1;
  return exponent;
}

void *malloc(size_t size) {
  if (size > ((size_t)1 << largest) - header) return NULL;
  unsigned exponent = exponentFor(size + header);
  Block *block = freeBlocks[exponent];
  if (block) {
    freeBlocks[exponent] = block->next;
    return (unsigned char *)block + header;
  }
  if (!heapEnd) heapEnd = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
  size_t blockSize = (size_t)1 << exponent;
  uintptr_t end = heapEnd + blockSize;
  uintptr_t available = (uintptr_t)__builtin_wasm_memory_size(0) << 16;
  if (end < heapEnd) return NULL;
  if (end > available) {
    size_t pages = (end - available + 0xFFFF) >> 16;
    // Grow by at least a sixteenth, because each growth is expensive.
    size_t more = __builtin_wasm_memory_size(0) >> 4;
    if (__builtin_wasm_memory_grow(0, pages > more ? pages : more) == (size_t)-1 &&
        __builtin_wasm_memory_grow(0, pages) == (size_t)-1) {
      return NULL;
    }
  }
  block = (Block *)heapEnd;
  heapEnd = end;
  block->sizeExponent = exponent;
  return (unsigned char *)block + header;
}

void free(void *pointer) {
  if (!pointer) return;
  Block *block = (Block *)((unsigned char *)pointer - header);
  block->next = freeBlocks[block->sizeExponent];
  freeBlocks[block->sizeExponent] = block;
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  // Every block is aligned to 16 bytes, and Swift's standard library never needs more.
  if (alignment > 16) return 22;
  *result = malloc(size);
  return *result ? 0 : 12;
}

// With bulk memory each of these is one instruction, not a recursive call.
void *memcpy(void *restrict target, const void *restrict source, size_t count) {
  return __builtin_memcpy(target, source, count);
}

void *memmove(void *target, const void *source, size_t count) {
  return __builtin_memmove(target, source, count);
}

void *memset(void *target, int value, size_t count) {
  return __builtin_memset(target, value, count);
}

int memcmp(const void *left, const void *right, size_t count) {
  const unsigned char *a = left, *b = right;
  for (; count > 0; count -= 1, a += 1, b += 1) {
    if (*a != *b) return *a < *b ? -1 : 1;
  }
  return 0;
}

size_t strlen(const char *text) {
  size_t count = 0;
  while (text[count]) count += 1;
  return count;
}

// Hashing needs a seed. No value that an attacker chooses is hashed here.
void arc4random_buf(void *target, size_t count) {
  static uint64_t state = 0x9E3779B97F4A7C15u;
  unsigned char *bytes = target;
  for (size_t index = 0; index < count; index += 1) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    bytes[index] = (unsigned char)state;
  }
}

uintptr_t __stack_chk_guard = 0x5CA1AB1E;

_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

int putchar(int character) { return character; }
