// What Embedded Swift expects of a C library beyond what every one has, so that the library fits each of them.

#include <stddef.h>
#include <stdint.h>

// Hashing asks for a seed. Nothing that an attacker chooses is hashed here.
void arc4random_buf(void *target, size_t count) {
  uint64_t state = 0x9E3779B97F4A7C15u;
  unsigned char *bytes = target;
  for (size_t index = 0; index < count; index += 1) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    bytes[index] = (unsigned char)state;
  }
}

// For capacities of hash tables: far below 2^63, and never negative.
double ceil(double value) {
  double whole = (double)(int64_t)value;
  return whole < value ? whole + 1 : whole;
}
