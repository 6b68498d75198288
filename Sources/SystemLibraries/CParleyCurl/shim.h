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

// How far a delivery to a mail server has come.
typedef enum {
  CCurlMail_connecting = 0,
  CCurlMail_greeting,
  CCurlMail_encrypting,
  CCurlMail_authenticating,
  CCurlMail_sender,
  CCurlMail_recipient,
  CCurlMail_message
} CCurlMailPhase;

// A message on its way to a mail server.
typedef struct {
  const unsigned char *bytes;
  size_t left;
  CCurlMailPhase phase;
} CCurlMail;

static inline size_t CCurl_readMail(char *buffer, size_t size, size_t count, void *read) {
  CCurlMail *mail = (CCurlMail *)read;
  size_t length = size * count < mail->left ? size * count : mail->left;
  memcpy(buffer, mail->bytes, length);
  mail->bytes += length;
  mail->left -= length;
  return length;
}

// Notes the command that libcurl has sent last, which its error codes do not tell. Nothing else of
// what it reports is kept: it contains addresses and passwords.
static inline int CCurl_noteMailCommand(
  CURL *handle, curl_infotype type, char *bytes, size_t size, void *noted) {
  CCurlMail *mail = (CCurlMail *)noted;
  static const struct { const char *word; CCurlMailPhase phase; } commands[] = {
    {"EHLO", CCurlMail_greeting}, {"HELO", CCurlMail_greeting},
    {"STAR", CCurlMail_encrypting}, {"AUTH", CCurlMail_authenticating},
    {"MAIL", CCurlMail_sender}, {"RCPT", CCurlMail_recipient}, {"DATA", CCurlMail_message}};
  if (type != CURLINFO_HEADER_OUT || size < 4) return 0;
  // libcurl blocks until the server has answered QUIT, which a server need not do: for a second only.
  if (memcmp(bytes, "QUIT", 4) == 0)
    curl_easy_setopt(handle, CURLOPT_SERVER_RESPONSE_TIMEOUT, 1L);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (memcmp(bytes, commands[i].word, 4) == 0 && commands[i].phase > mail->phase)
      mail->phase = commands[i].phase;
  return 0;
}

static inline CURLcode CCurl_sendMail(CURL *handle, CCurlMail *mail, size_t *answerBytesLeft) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, CCurl_readMail);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READDATA, mail);
  if (code == CURLE_OK)
    code = curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)mail->left);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, CCurl_noteMailCommand);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_DEBUGDATA, mail);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, CCurl_drop);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, answerBytesLeft);
  return code != CURLE_OK ? code : CCurl_dropBody(handle, answerBytesLeft);
}
