// What Swift cannot import from libev and libc: macros, bit fields and calls that need
// _GNU_SOURCE.
#pragma once

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>

/// What a loop's thread is doing, in words that any thread may read. All of it is atomic.
struct parley_pulse;

/// Makes a pulse at stage 0 with no turns. NULL without memory.
struct parley_pulse *_Nullable parley_pulse_create(void);
void parley_pulse_destroy(struct parley_pulse *_Nonnull pulse);

/// Makes the calling thread the one that the pulse is about; until `parley_pulse_leave`.
void parley_pulse_begin(struct parley_pulse *_Nonnull pulse);
void parley_pulse_leave(struct parley_pulse *_Nonnull pulse);

/// Counts a turn.
void parley_pulse_count(struct parley_pulse *_Nonnull pulse);

/// Enters a stage and returns the one before.
int parley_pulse_enter(struct parley_pulse *_Nonnull pulse, int stage);

uint64_t parley_pulse_turns(struct parley_pulse *_Nonnull pulse);
int parley_pulse_stage(struct parley_pulse *_Nonnull pulse);
/// The thread's number in the system, or 0.
int parley_pulse_thread(struct parley_pulse *_Nonnull pulse);
/// The clock of the thread's processor time.
int parley_pulse_clock(struct parley_pulse *_Nonnull pulse);

/// A libev loop of our own, with a wake-up for other threads and a tick.
struct parley_loop;

/// What one turn of a loop was for; libwebsockets' own events are not named.
enum {
  PARLEY_LOOP_WOKEN = 1,
  PARLEY_LOOP_TICKED = 2,
};

/// Makes a loop that ticks every `tick_seconds`. NULL when the system gives none.
struct parley_loop *_Nullable parley_loop_create(double tick_seconds);

/// Has the loop enter `waiting` while it waits for events, and `working` when it has some.
void parley_loop_report(
    struct parley_loop *_Nonnull loop, struct parley_pulse *_Nonnull pulse, int waiting,
    int working);

/// The `struct ev_loop *` for libwebsockets' `foreign_loops`.
void *_Nonnull parley_loop_foreign(struct parley_loop *_Nonnull loop);

/// Waits for events and handles one batch. Returns PARLEY_LOOP_… flags.
int parley_loop_turn(struct parley_loop *_Nonnull loop);

/// Handles what is due without waiting. Returns PARLEY_LOOP_… flags.
int parley_loop_poll(struct parley_loop *_Nonnull loop);

/// Makes the current or next turn return. The only call allowed from any thread.
void parley_loop_wake(struct parley_loop *_Nonnull loop);

/// Waits until a socket has room, on a loop.
struct parley_room_watch;

/// Makes a watch for `descriptor`. NULL without memory. The loop's thread only, as all below.
struct parley_room_watch *_Nullable parley_room_watch_create(
    struct parley_loop *_Nonnull loop, int descriptor, void *_Nonnull owner);

/// Reports `owner` once, at the next turn in which the socket has room.
void parley_room_watch_start(struct parley_room_watch *_Nonnull watch);

/// Ends a watch. To be called before its descriptor is closed.
void parley_room_watch_destroy(struct parley_room_watch *_Nonnull watch);

/// Returns and forgets one owner whose socket has room; NULL when there is none.
void *_Nullable parley_loop_next_with_room(struct parley_loop *_Nonnull loop);

/// Frees the loop.
void parley_loop_destroy(struct parley_loop *_Nonnull loop);

struct lws;

/// Writes to a connection's socket, encrypted if the connection is, past libwebsockets' own buffers.
///
/// Returns the number of bytes taken, 0 when the socket is full, -1 when it is gone. After 0, the
/// same bytes have to be written again.
ssize_t parley_write(struct lws *_Nonnull wsi, const void *_Nonnull bytes, size_t count);

/// The number of bytes that a socket has received and nobody has read.
int parley_unread(int descriptor);

/// Another descriptor of the same socket, closed on exec; -1 when there is none left.
int parley_duplicate(int descriptor);

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC.
int parley_accept(int listener, struct sockaddr_storage *_Nonnull address);

/// Whether the last failure of this thread means "nothing there now".
int parley_would_block(int error);

/// Names the calling thread for debuggers and `top`; at most 15 letters.
void parley_name_thread(const char *_Nonnull name);
