#define _GNU_SOURCE
#include "CParleyLibwebsocketsShim.h"

#include <errno.h>
#include <libwebsockets.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct parley_pulse {
  atomic_uint_fast64_t turns;
  atomic_int stage;
  atomic_int thread;
  atomic_int clock;
};

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

struct parley_tls {
  struct lws_context *library;
  SSL_CTX *context;
  // A client context. Without it the library would create one with all authorities of the system, and leak it.
  SSL_CTX *unused;
  char *certificate;
  char *key;
};

// The library passes its OpenSSL context only to this callback.
static int library_called(
    struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
  (void)in;
  (void)length;
  if (reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS) {
    struct parley_tls *self = lws_context_user(lws_get_context(wsi));
    self->context = user;
  }
  return 0;
}

static const struct lws_protocols library_protocols[] = {
  {.name = "-", .callback = library_called},
  {.name = NULL},
};

void parley_tls_destroy(struct parley_tls *self) {
  if (self->library) lws_context_destroy(self->library);
  SSL_CTX_free(self->unused);
  free(self->certificate);
  free(self->key);
  free(self);
}

struct parley_tls *parley_tls_create(const char *certificate, const char *key) {
  struct parley_tls *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->certificate = strdup(certificate);
  self->key = strdup(key);
  self->unused = SSL_CTX_new(TLS_client_method());
  lws_set_log_level(0, NULL);
  struct lws_context_creation_info info;
  memset(&info, 0, sizeof info);
  info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
  info.protocols = library_protocols;
  info.user = self;
  info.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_NO_LWS_SYSTEM_STATES;
  info.ssl_cert_filepath = self->certificate;
  info.ssl_private_key_filepath = self->key;
  info.alpn = "http/1.1";
  info.provided_client_ssl_ctx = self->unused;
  // The library holds no connections, only the OpenSSL context.
  info.fd_limit_per_thread = 16;
  if (self->certificate && self->key && self->unused) self->library = lws_create_context(&info);
  if (!self->library || !self->context || !SSL_CTX_get0_certificate(self->context)) {
    ERR_clear_error();
    parley_tls_destroy(self);
    return NULL;
  }
  SSL_CTX_set_min_proto_version(self->context, TLS1_2_VERSION);
  SSL_CTX_set_options(self->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Idle connections release their buffers. A write may accept only a part, and be repeated from another buffer.
  SSL_CTX_set_mode(
      self->context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE
                         | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return self;
}

int parley_tls_reload(struct parley_tls *self) {
  // Without buffers as arguments, the library reads the files.
  int result = lws_tls_cert_updated(
      self->library, self->certificate, self->key, NULL, 0, NULL, 0);
  ERR_clear_error();
  return result == 0 ? 0 : -1;
}

SSL *parley_tls_open(struct parley_tls *self, int descriptor) {
  SSL *ssl = SSL_new(self->context);
  if (!ssl) return NULL;
  if (SSL_set_fd(ssl, descriptor) != 1) {
    SSL_free(ssl);
    return NULL;
  }
  SSL_set_accept_state(ssl);
  return ssl;
}

static int outcome(SSL *ssl, int result) {
  int error = SSL_get_error(ssl, result);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return PARLEY_TLS_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
      return PARLEY_TLS_ENDED;
    default:
      return PARLEY_TLS_FAILED;
  }
}

int parley_tls_shake(SSL *ssl) {
  ERR_clear_error();
  int result = SSL_accept(ssl);
  return result == 1 ? 1 : outcome(ssl, result);
}

int parley_tls_read(SSL *ssl, void *bytes, int room) {
  ERR_clear_error();
  int count = SSL_read(ssl, bytes, room);
  return count > 0 ? count : outcome(ssl, count);
}

int parley_tls_is_at_end(SSL *ssl) {
  char byte;
  ERR_clear_error();
  int count = SSL_peek(ssl, &byte, 1);
  return count <= 0 && outcome(ssl, count) != PARLEY_TLS_AGAIN;
}

int parley_tls_write(SSL *ssl, const void *bytes, int count) {
  ERR_clear_error();
  int sent = SSL_write(ssl, bytes, count);
  return sent > 0 ? sent : outcome(ssl, sent);
}

void parley_tls_end(SSL *ssl) {
  ERR_clear_error();
  SSL_shutdown(ssl);
  ERR_clear_error();
}

void parley_tls_close(SSL *ssl) { SSL_free(ssl); }

int parley_accept(int listener, struct sockaddr_storage *address) {
  socklen_t length = sizeof *address;
  return accept4(
      listener, (struct sockaddr *)address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

ssize_t parley_send(int descriptor, const void *bytes, size_t count) {
  return syscall(SYS_sendto, descriptor, bytes, count, MSG_NOSIGNAL, NULL, 0);
}

int parley_would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

void parley_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
