#ifndef CCLIENTTLS_H
#define CCLIENTTLS_H

// TLS of a client over a non-blocking socket, by OpenSSL. Empty on systems other than Linux, whose
// clients use the system's own WebSocket.

#ifdef __linux__

struct ssl_st;
struct ssl_ctx_st;

// The answers of parley_client_tls_shake, _read and _write below zero, and of _read at the end.
enum {
  parley_client_tls_ended = 0,
  parley_client_tls_failed = -1,
  parley_client_tls_wants_read = -2,
  parley_client_tls_wants_write = -3,
};

// Trusts the certificates of the system, or those of a file in PEM form if one is named. NULL if
// that file cannot be read or OpenSSL has no memory.
struct ssl_ctx_st *_Nullable parley_client_tls_create(const char *_Nullable ca_file);
void parley_client_tls_destroy(struct ssl_ctx_st *_Nonnull context);

// The certificate has to be for this host: a name, or an address if is_address is not 0.
struct ssl_st *_Nullable parley_client_tls_open(
    struct ssl_ctx_st *_Nonnull context, int descriptor, const char *_Nonnull host,
    int is_address);

// 1 once the handshake is done.
int parley_client_tls_shake(struct ssl_st *_Nonnull ssl);
// The kinds of objections to a certificate.
enum {
  parley_client_tls_no_objection = 0,
  parley_client_tls_unknown_authority = 1,
  parley_client_tls_wrong_host = 2,
  parley_client_tls_expired = 3,
  parley_client_tls_not_yet_valid = 4,
  parley_client_tls_other_objection = 5,
};
// Why the certificate was not accepted; no_objection if that is not why it failed.
int parley_client_tls_objection_kind(struct ssl_st *_Nonnull ssl);
// The same in OpenSSL's words.
const char *_Nullable parley_client_tls_objection(struct ssl_st *_Nonnull ssl);
int parley_client_tls_read(struct ssl_st *_Nonnull ssl, void *_Nonnull bytes, int room);
int parley_client_tls_write(struct ssl_st *_Nonnull ssl, const void *_Nonnull bytes, int count);
// Sends the close notification if there is room for it, and frees the connection.
void parley_client_tls_close(struct ssl_st *_Nonnull ssl);

#endif
#endif
