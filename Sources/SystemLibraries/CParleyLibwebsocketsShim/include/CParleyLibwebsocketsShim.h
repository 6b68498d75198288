// What Swift cannot import: atomics, macros of OpenSSL, callbacks of libwebsockets, and calls that
// need _GNU_SOURCE.
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

/// A server's side of TLS: certificate, key and protocols, as libwebsockets sets them up.
struct parley_tls;

/// Loads a certificate and its key. NULL if they do not fit, or without memory.
struct parley_tls *_Nullable parley_tls_create(
    const char *_Nonnull certificate, const char *_Nonnull key);

/// Loads the files again for connections to come. Returns 0, or -1 and leaves all as it was.
int parley_tls_reload(struct parley_tls *_Nonnull tls);
void parley_tls_destroy(struct parley_tls *_Nonnull tls);

struct ssl_st;

/// What a step of a TLS connection has come to, where it is not a number of bytes.
enum {
  /// The socket has to be waited for.
  PARLEY_TLS_AGAIN = 0,
  /// The connection is broken; TCP is all that is left to close.
  PARLEY_TLS_FAILED = -1,
  /// The peer has said that nothing more comes.
  PARLEY_TLS_ENDED = -2,
};

/// Begins TLS on a socket. NULL without memory.
struct ssl_st *_Nullable parley_tls_open(struct parley_tls *_Nonnull tls, int descriptor);
/// Continues the handshake. Returns 1 when it is done, else PARLEY_TLS_….
int parley_tls_shake(struct ssl_st *_Nonnull ssl);
/// Reads at most `room` bytes. Returns their number, else PARLEY_TLS_….
int parley_tls_read(struct ssl_st *_Nonnull ssl, void *_Nonnull bytes, int room);
/// Whether the peer has ended its side, and left nothing to read.
int parley_tls_is_at_end(struct ssl_st *_Nonnull ssl);
/// Writes. Returns the number of bytes taken, else PARLEY_TLS_…; after AGAIN, the same bytes have to
/// come first in the next call.
int parley_tls_write(struct ssl_st *_Nonnull ssl, const void *_Nonnull bytes, int count);
/// Tells the peer that nothing more comes, as far as the socket takes it.
void parley_tls_end(struct ssl_st *_Nonnull ssl);
void parley_tls_close(struct ssl_st *_Nonnull ssl);

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC.
int parley_accept(int listener, struct sockaddr_storage *_Nonnull address);

/// send with MSG_NOSIGNAL, without being a place where a thread may be cancelled: in a process with
/// several threads the C library's own spends a twentieth of a send on that.
ssize_t parley_send(int descriptor, const void *_Nullable bytes, size_t count);

/// Whether the last failure of this thread means "nothing there now".
int parley_would_block(int error);

/// Names the calling thread for debuggers and `top`; at most 15 letters.
void parley_name_thread(const char *_Nonnull name);
