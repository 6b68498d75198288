// What Swift cannot import from libev and libc: macros, bit fields and calls that need
// _GNU_SOURCE.
#pragma once

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/// A libev loop of our own, with a wake-up for other threads and a tick.
struct parley_loop;

/// What one turn of a loop was for; libwebsockets' own events are not named.
enum {
  PARLEY_LOOP_WOKEN = 1,
  PARLEY_LOOP_TICKED = 2,
};

/// Makes a loop that ticks every `tick_seconds`. NULL when the system gives none.
struct parley_loop *_Nullable parley_loop_create(double tick_seconds);

/// The `struct ev_loop *` for libwebsockets' `foreign_loops`.
void *_Nonnull parley_loop_foreign(struct parley_loop *_Nonnull loop);

/// Waits for events and handles one batch. Returns PARLEY_LOOP_… flags.
int parley_loop_turn(struct parley_loop *_Nonnull loop);

/// Handles what is due without waiting. Returns PARLEY_LOOP_… flags.
int parley_loop_poll(struct parley_loop *_Nonnull loop);

/// Makes the current or next turn return. The only call allowed from any thread.
void parley_loop_wake(struct parley_loop *_Nonnull loop);

/// Frees the loop.
void parley_loop_destroy(struct parley_loop *_Nonnull loop);

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC.
int parley_accept(int listener, struct sockaddr_storage *_Nonnull address);

/// Whether the last failure of this thread means "nothing there now".
int parley_would_block(int error);

/// Names the calling thread for debuggers and `top`; at most 15 letters.
void parley_name_thread(const char *_Nonnull name);
