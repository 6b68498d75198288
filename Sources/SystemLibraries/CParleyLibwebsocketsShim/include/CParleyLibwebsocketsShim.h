// Functions for features that Swift cannot import: atomics, macros of OpenSSL, callbacks of
// libwebsockets, and calls that need _GNU_SOURCE.
#pragma once

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>

/// The activity of a loop's thread, as atomic numbers that any thread may read.
struct parley_pulse;

/// Creates a pulse at stage 0 with no turns. Returns NULL if memory is exhausted.
struct parley_pulse *_Nullable parley_pulse_create(void);
void parley_pulse_destroy(struct parley_pulse *_Nonnull pulse);

/// Makes the pulse report the calling thread, until `parley_pulse_leave`.
void parley_pulse_begin(struct parley_pulse *_Nonnull pulse);
void parley_pulse_leave(struct parley_pulse *_Nonnull pulse);

/// Counts a turn.
void parley_pulse_count(struct parley_pulse *_Nonnull pulse);

/// Enters a stage, and returns the previous stage.
int parley_pulse_enter(struct parley_pulse *_Nonnull pulse, int stage);

uint64_t parley_pulse_turns(struct parley_pulse *_Nonnull pulse);
int parley_pulse_stage(struct parley_pulse *_Nonnull pulse);
/// The thread's number in the system, or 0.
int parley_pulse_thread(struct parley_pulse *_Nonnull pulse);
/// The clock of the thread's processor time.
int parley_pulse_clock(struct parley_pulse *_Nonnull pulse);

/// A server's side of TLS: certificate, key and protocols, as libwebsockets sets them up.
struct parley_tls;

/// Loads a certificate and its key. Returns NULL if they do not match or memory is exhausted.
struct parley_tls *_Nullable parley_tls_create(
    const char *_Nonnull certificate, const char *_Nonnull key);

/// Reloads the files for later connections. Returns 0, or -1 without any change.
int parley_tls_reload(struct parley_tls *_Nonnull tls);
void parley_tls_destroy(struct parley_tls *_Nonnull tls);

struct ssl_st;

/// The results of a step of a TLS connection that are not a number of bytes.
enum {
  /// Retry when the socket is ready.
  PARLEY_TLS_AGAIN = 0,
  /// The TLS connection has failed; close the socket.
  PARLEY_TLS_FAILED = -1,
  /// The peer has sent its close notification.
  PARLEY_TLS_ENDED = -2,
};

/// Begins TLS on a socket. Returns NULL if memory is exhausted.
struct ssl_st *_Nullable parley_tls_open(struct parley_tls *_Nonnull tls, int descriptor);
/// Continues the handshake. Returns 1 when it is done, else PARLEY_TLS_….
int parley_tls_shake(struct ssl_st *_Nonnull ssl);
/// Reads at most `room` bytes. Returns their number, else PARLEY_TLS_….
int parley_tls_read(struct ssl_st *_Nonnull ssl, void *_Nonnull bytes, int room);
/// Whether the peer has ended its side and all its bytes have been read.
int parley_tls_is_at_end(struct ssl_st *_Nonnull ssl);
/// Writes. Returns the number of accepted bytes, else PARLEY_TLS_…; after AGAIN, the next call must
/// begin with the same bytes.
int parley_tls_write(struct ssl_st *_Nonnull ssl, const void *_Nonnull bytes, int count);
/// Sends the close notification if the socket has room for it.
void parley_tls_end(struct ssl_st *_Nonnull ssl);
void parley_tls_close(struct ssl_st *_Nonnull ssl);

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC.
int parley_accept(int listener, struct sockaddr_storage *_Nonnull address);

/// send with MSG_NOSIGNAL, but not a cancellation point: in a process with several threads, checks
/// for cancellation take a twentieth of the time of the C library's function.
ssize_t parley_send(int descriptor, const void *_Nullable bytes, size_t count);

/// Whether an error number means that the call would block.
int parley_would_block(int error);

/// Names the calling thread for debuggers and `top`; at most 15 letters.
void parley_name_thread(const char *_Nonnull name);
