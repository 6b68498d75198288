// Loaded into the server by tests, to have system calls go wrong while it runs.
//
// Each fault lasts as long as a file of its name is in the folder $PARLEY_FAULTS:
//   sync    fsync and fdatasync do not return
//   spin    the loop's thread never returns from reading a socket
//   clock   the wall clock is ahead by as many milliseconds as the file says
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int is_on(const char *fault) {
  const char *folder = getenv("PARLEY_FAULTS");
  char path[4096];
  if (!folder) return 0;
  snprintf(path, sizeof path, "%s/%s", folder, fault);
  return access(path, F_OK) == 0;
}

static void wait_while(const char *fault) {
  struct timespec pause = {0, 1000000};
  while (is_on(fault)) nanosleep(&pause, NULL);
}

static long number_of(const char *fault) {
  const char *folder = getenv("PARLEY_FAULTS");
  char path[4096], text[32] = "";
  if (!folder) return 0;
  snprintf(path, sizeof path, "%s/%s", folder, fault);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  return count > 0 ? strtol(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int code =
      ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(clock, time);
  if (code == 0 && clock == CLOCK_REALTIME) {
    int error = errno;
    time->tv_sec += number_of("clock") / 1000;
    errno = error;
  }
  return code;
}

int fsync(int file) {
  wait_while("sync");
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
  wait_while("sync");
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}

ssize_t recv(int socket, void *bytes, size_t count, int flags) {
  char name[32] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  if (strcmp(name, "parley-loop") == 0) {
    while (is_on("spin")) {
      for (volatile int turn = 0; turn < 1000000; turn++) {
      }
    }
  }
  return ((ssize_t(*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv"))(
      socket, bytes, count, flags);
}
