#define _GNU_SOURCE

#include "CParleyLinux.h"

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <sys/timex.h>
#include <sys/vfs.h>

unsigned long CLinux_fileSystem(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (unsigned long)status.f_type & 0xFFFFFFFFu : 0;
}

int CLinux_isClockSynchronised(void) {
  struct timex status = {0};
  return adjtimex(&status) != TIME_ERROR && !(status.status & STA_UNSYNC);
}

void CLinux_returnLargeBlocks(void) {
  // Setting the threshold makes it constant; by default it grows up to 32 MiB with the freed blocks.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

int CLinux_exchange(const char *path, const char *other) {
  return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
}

int CLinux_cores(void) {
  // A set for more cores than the largest machines have.
  cpu_set_t *allowed = CPU_ALLOC(8192);
  if (!allowed) return 0;
  size_t size = CPU_ALLOC_SIZE(8192);
  int count = sched_getaffinity(0, size, allowed) == 0 ? CPU_COUNT_S(size, allowed) : 0;
  CPU_FREE(allowed);
  return count;
}
