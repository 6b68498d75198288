#include "CParleyClientTLS.h"

#ifdef __linux__

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct ssl_ctx_st *parley_client_tls_create(const char *ca_file) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  if (context == NULL) return NULL;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  // A write may accept only a part of a frame, and a repeated write may use another buffer.
  SSL_CTX_set_mode(
      context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  int is_trusting = ca_file == NULL ? SSL_CTX_set_default_verify_paths(context)
                                    : SSL_CTX_load_verify_locations(context, ca_file, NULL);
  if (is_trusting != 1) {
    SSL_CTX_free(context);
    ERR_clear_error();
    return NULL;
  }
  return context;
}

void parley_client_tls_destroy(struct ssl_ctx_st *context) { SSL_CTX_free(context); }

struct ssl_st *parley_client_tls_open(
    struct ssl_ctx_st *context, int descriptor, const char *host, int is_address) {
  SSL *ssl = SSL_new(context);
  if (ssl == NULL) return NULL;
  int is_set = SSL_set_fd(ssl, descriptor);
  if (is_address) {
    is_set = is_set && X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host);
  } else {
    // The server name of the handshake, and the name to verify, without partial wildcards.
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    is_set = is_set && SSL_set_tlsext_host_name(ssl, host) && SSL_set1_host(ssl, host);
  }
  if (!is_set) {
    SSL_free(ssl);
    ERR_clear_error();
    return NULL;
  }
  SSL_set_connect_state(ssl);
  return ssl;
}

static int answer(SSL *ssl, int result) {
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ: return parley_client_tls_wants_read;
    case SSL_ERROR_WANT_WRITE: return parley_client_tls_wants_write;
    case SSL_ERROR_ZERO_RETURN: return parley_client_tls_ended;
    default: ERR_clear_error(); return parley_client_tls_failed;
  }
}

int parley_client_tls_shake(struct ssl_st *ssl) {
  ERR_clear_error();
  int result = SSL_do_handshake(ssl);
  return result == 1 ? 1 : answer(ssl, result);
}

int parley_client_tls_objection_kind(struct ssl_st *ssl) {
  switch (SSL_get_verify_result(ssl)) {
    case X509_V_OK: return parley_client_tls_no_objection;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED: return parley_client_tls_unknown_authority;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return parley_client_tls_wrong_host;
    case X509_V_ERR_CERT_HAS_EXPIRED: return parley_client_tls_expired;
    case X509_V_ERR_CERT_NOT_YET_VALID: return parley_client_tls_not_yet_valid;
    default: return parley_client_tls_other_objection;
  }
}

const char *parley_client_tls_objection(struct ssl_st *ssl) {
  long result = SSL_get_verify_result(ssl);
  return result == X509_V_OK ? NULL : X509_verify_cert_error_string(result);
}

int parley_client_tls_read(struct ssl_st *ssl, void *bytes, int room) {
  ERR_clear_error();
  int result = SSL_read(ssl, bytes, room);
  return result > 0 ? result : answer(ssl, result);
}

int parley_client_tls_write(struct ssl_st *ssl, const void *bytes, int count) {
  ERR_clear_error();
  int result = SSL_write(ssl, bytes, count);
  if (result > 0) return result;
  result = answer(ssl, result);
  return result == parley_client_tls_ended ? parley_client_tls_failed : result;
}

void parley_client_tls_close(struct ssl_st *ssl) {
  SSL_shutdown(ssl);
  ERR_clear_error();
  SSL_free(ssl);
}

#endif
