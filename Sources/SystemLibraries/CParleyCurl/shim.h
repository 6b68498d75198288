#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <string.h>

// Options take values of any type, which Swift cannot pass: one function for each type.

static inline CURLcode CCurl_setLong(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_setSize(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_setPointer(CURL *handle, CURLoption option, const void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_getLong(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode CCurl_getSize(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}

// Discards received bytes, and aborts the transfer when there are more than `left`.
static inline size_t CCurl_drop(char *bytes, size_t size, size_t count, void *left) {
  size_t *rest = (size_t *)left;
  (void)bytes;
  if (size * count > *rest) return 0;
  *rest -= size * count;
  return size * count;
}

static inline CURLcode CCurl_dropBody(CURL *handle, size_t *left) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, CCurl_drop);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_WRITEDATA, left);
}

// A response body in memory, of at most `capacity` bytes.
typedef struct {
  char *bytes;
  size_t count;
  size_t capacity;
} CCurlBody;

// Appends received bytes to the body, and aborts the transfer when they exceed its capacity.
static inline size_t CCurl_keep(char *bytes, size_t size, size_t count, void *kept) {
  CCurlBody *body = (CCurlBody *)kept;
  if (size * count > body->capacity - body->count) return 0;
  memcpy(body->bytes + body->count, bytes, size * count);
  body->count += size * count;
  return size * count;
}

static inline CURLcode CCurl_keepBody(CURL *handle, CCurlBody *body) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, CCurl_keep);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_WRITEDATA, body);
}
