#ifndef CCLIENTTLS_H
#define CCLIENTTLS_H

// TLS of a client over a non-blocking socket, by OpenSSL. Empty on systems other than Linux, whose
// clients use the system's own WebSocket.

#ifdef __linux__

struct ssl_st;
struct ssl_ctx_st;

// Results of parley_client_tls_shake, _read and _write that are not a number of bytes. _read returns
// `ended` after the peer's close notification.
enum {
  parley_client_tls_ended = 0,
  parley_client_tls_failed = -1,
  parley_client_tls_wants_read = -2,
  parley_client_tls_wants_write = -3,
};

// Creates a context that trusts the system's certificates, or those of a PEM file if one is named.
// Returns NULL if the file cannot be read or memory is exhausted.
struct ssl_ctx_st *_Nullable parley_client_tls_create(const char *_Nullable ca_file);
void parley_client_tls_destroy(struct ssl_ctx_st *_Nonnull context);

// Starts TLS on a socket. The server's certificate must be valid for the host, which is a name, or
// an address if is_address is not 0.
struct ssl_st *_Nullable parley_client_tls_open(
    struct ssl_ctx_st *_Nonnull context, int descriptor, const char *_Nonnull host,
    int is_address);

// Continues the handshake. Returns 1 when it is complete.
int parley_client_tls_shake(struct ssl_st *_Nonnull ssl);
// The reasons for which a certificate is rejected.
enum {
  parley_client_tls_no_objection = 0,
  parley_client_tls_unknown_authority = 1,
  parley_client_tls_wrong_host = 2,
  parley_client_tls_expired = 3,
  parley_client_tls_not_yet_valid = 4,
  parley_client_tls_other_objection = 5,
};
// Returns the reason why the certificate was rejected; no_objection if the handshake failed for
// another reason.
int parley_client_tls_objection_kind(struct ssl_st *_Nonnull ssl);
// Returns OpenSSL's description of the reason.
const char *_Nullable parley_client_tls_objection(struct ssl_st *_Nonnull ssl);
int parley_client_tls_read(struct ssl_st *_Nonnull ssl, void *_Nonnull bytes, int room);
int parley_client_tls_write(struct ssl_st *_Nonnull ssl, const void *_Nonnull bytes, int count);
// Sends the close notification if there is room for it, and frees the connection.
void parley_client_tls_close(struct ssl_st *_Nonnull ssl);

#endif
#endif
