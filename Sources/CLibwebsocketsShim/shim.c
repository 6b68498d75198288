#define _GNU_SOURCE
#include "CLibwebsocketsShim.h"

#include <errno.h>
#include <ev.h>
#include <libwebsockets.h>
#include <pthread.h>
#include <stdlib.h>

struct parley_loop {
  struct ev_loop *loop;
  ev_async wake;
  ev_timer tick;
  int flags;
};

// Frames are written with LWS_WRITE_HTTP so that the library sends them as they are.
_Static_assert(LWS_LIBRARY_VERSION_MAJOR == 4, "raw writes were checked with libwebsockets 4");

static void woken(struct ev_loop *loop, ev_async *watcher, int events) {
  (void)loop;
  (void)events;
  ((struct parley_loop *)watcher->data)->flags |= PARLEY_LOOP_WOKEN;
}

static void ticked(struct ev_loop *loop, ev_timer *watcher, int events) {
  (void)loop;
  (void)events;
  ((struct parley_loop *)watcher->data)->flags |= PARLEY_LOOP_TICKED;
}

struct parley_loop *parley_loop_create(double tick_seconds) {
  struct parley_loop *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->loop = ev_loop_new(EVFLAG_AUTO);
  if (!self->loop) {
    free(self);
    return NULL;
  }
  ev_async_init(&self->wake, woken);
  self->wake.data = self;
  ev_async_start(self->loop, &self->wake);
  ev_timer_init(&self->tick, ticked, tick_seconds, tick_seconds);
  self->tick.data = self;
  ev_timer_start(self->loop, &self->tick);
  return self;
}

void *parley_loop_foreign(struct parley_loop *self) { return self->loop; }

static int run(struct parley_loop *self, int how) {
  self->flags = 0;
  ev_run(self->loop, how);
  return self->flags;
}

int parley_loop_turn(struct parley_loop *self) { return run(self, EVRUN_ONCE); }

int parley_loop_poll(struct parley_loop *self) { return run(self, EVRUN_NOWAIT); }

void parley_loop_wake(struct parley_loop *self) { ev_async_send(self->loop, &self->wake); }

void parley_loop_destroy(struct parley_loop *self) {
  ev_timer_stop(self->loop, &self->tick);
  ev_async_stop(self->loop, &self->wake);
  ev_loop_destroy(self->loop);
  free(self);
}

int parley_accept(int listener, struct sockaddr_storage *address) {
  socklen_t length = sizeof *address;
  return accept4(
      listener, (struct sockaddr *)address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int parley_would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

void parley_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
