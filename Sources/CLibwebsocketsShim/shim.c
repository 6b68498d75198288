#define _GNU_SOURCE
#include "CLibwebsocketsShim.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <libwebsockets.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct parley_loop {
  struct ev_loop *loop;
  ev_async wake;
  ev_timer tick;
  int flags;
  // Watches whose sockets have room, newest first.
  struct parley_room_watch *with_room;
  struct parley_pulse *pulse;
  int waiting;
  int working;
};

struct parley_pulse {
  atomic_uint_fast64_t turns;
  atomic_int stage;
  atomic_int thread;
  atomic_int clock;
};

struct parley_room_watch {
  ev_io io;
  struct parley_loop *loop;
  void *owner;
  struct parley_room_watch *next;
  int is_reported;
};

// Frames are written with LWS_WRITE_HTTP so that the library sends them as they are.
_Static_assert(LWS_LIBRARY_VERSION_MAJOR == 4, "raw writes were checked with libwebsockets 4");

struct parley_pulse *parley_pulse_create(void) {
  return calloc(1, sizeof(struct parley_pulse));
}

void parley_pulse_destroy(struct parley_pulse *self) { free(self); }

void parley_pulse_begin(struct parley_pulse *self) {
  clockid_t clock;
  if (pthread_getcpuclockid(pthread_self(), &clock) == 0) {
    atomic_store_explicit(&self->clock, clock, memory_order_relaxed);
  }
  atomic_store_explicit(&self->thread, gettid(), memory_order_release);
}

void parley_pulse_leave(struct parley_pulse *self) {
  atomic_store_explicit(&self->thread, 0, memory_order_release);
}

void parley_pulse_count(struct parley_pulse *self) {
  atomic_fetch_add_explicit(&self->turns, 1, memory_order_relaxed);
}

int parley_pulse_enter(struct parley_pulse *self, int stage) {
  // Written by one thread only.
  int before = atomic_load_explicit(&self->stage, memory_order_relaxed);
  atomic_store_explicit(&self->stage, stage, memory_order_relaxed);
  return before;
}

uint64_t parley_pulse_turns(struct parley_pulse *self) {
  return atomic_load_explicit(&self->turns, memory_order_relaxed);
}

int parley_pulse_stage(struct parley_pulse *self) {
  return atomic_load_explicit(&self->stage, memory_order_relaxed);
}

int parley_pulse_thread(struct parley_pulse *self) {
  return atomic_load_explicit(&self->thread, memory_order_acquire);
}

int parley_pulse_clock(struct parley_pulse *self) {
  return atomic_load_explicit(&self->clock, memory_order_relaxed);
}

static void begin_waiting(struct ev_loop *loop) {
  struct parley_loop *self = ev_userdata(loop);
  parley_pulse_enter(self->pulse, self->waiting);
}

static void end_waiting(struct ev_loop *loop) {
  struct parley_loop *self = ev_userdata(loop);
  parley_pulse_enter(self->pulse, self->working);
}

void parley_loop_report(
    struct parley_loop *self, struct parley_pulse *pulse, int waiting, int working) {
  self->pulse = pulse;
  self->waiting = waiting;
  self->working = working;
  ev_set_userdata(self->loop, self);
  ev_set_loop_release_cb(self->loop, begin_waiting, end_waiting);
}

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

static void has_room(struct ev_loop *loop, ev_io *watcher, int events) {
  (void)events;
  struct parley_room_watch *self = watcher->data;
  ev_io_stop(loop, watcher);
  if (self->is_reported) return;
  self->is_reported = 1;
  self->next = self->loop->with_room;
  self->loop->with_room = self;
}

struct parley_room_watch *parley_room_watch_create(
    struct parley_loop *loop, int descriptor, void *owner) {
  struct parley_room_watch *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->loop = loop;
  self->owner = owner;
  ev_io_init(&self->io, has_room, descriptor, EV_WRITE);
  self->io.data = self;
  return self;
}

void parley_room_watch_start(struct parley_room_watch *self) {
  ev_io_start(self->loop->loop, &self->io);
}

void parley_room_watch_destroy(struct parley_room_watch *self) {
  ev_io_stop(self->loop->loop, &self->io);
  if (self->is_reported) {
    struct parley_room_watch **link = &self->loop->with_room;
    while (*link && *link != self) link = &(*link)->next;
    if (*link) *link = self->next;
  }
  free(self);
}

void *parley_loop_next_with_room(struct parley_loop *self) {
  struct parley_room_watch *watch = self->with_room;
  if (!watch) return NULL;
  self->with_room = watch->next;
  watch->next = NULL;
  watch->is_reported = 0;
  return watch->owner;
}

ssize_t parley_write(struct lws *wsi, const void *bytes, size_t count) {
  SSL *ssl = lws_get_ssl(wsi);
  if (!ssl) {
    ssize_t sent = send(lws_get_socket_fd(wsi), bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return sent;
    return errno == EINTR || parley_would_block(errno) ? 0 : -1;
  }
  ERR_clear_error();
  int sent = SSL_write(ssl, bytes, (int)count);
  if (sent > 0) return sent;
  int error = SSL_get_error(ssl, sent);
  ERR_clear_error();
  // Only a client that renegotiates has to be read from first, and it is given no such chance.
  return error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

int parley_unread(int descriptor) {
  int count = 0;
  return ioctl(descriptor, FIONREAD, &count) == 0 ? count : 0;
}

int parley_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

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
