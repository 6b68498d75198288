#include "CLinux.h"

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
