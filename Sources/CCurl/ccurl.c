#define _GNU_SOURCE
#include "ccurl.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

CURLcode ccurl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }

CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_reader(CURL *easy, curl_read_callback read, curl_seek_callback seek, void *context) {
  CURLcode result = curl_easy_setopt(easy, CURLOPT_READFUNCTION, read);
  if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_READDATA, context);
  if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek);
  if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_SEEKDATA, context);
  return result;
}

CURLcode ccurl_set_writer(CURL *easy, curl_write_callback head, curl_write_callback body, void *context) {
  CURLcode result = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head);
  if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
  if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  return result;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)context, (void)purpose;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

CURLcode ccurl_set_close_on_exec(CURL *easy) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
}

static int limit_silence(void *context, curl_socket_t socket, curlsocktype purpose) {
  (void)context, (void)purpose;
  const unsigned milliseconds = CCURL_SILENCE * 1000;
  const int on = 1, pause = CCURL_SILENCE / 2;
  // Hints: a kernel that does not take them leaves the transfer to its other limits.
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &pause, sizeof pause);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof pause);
  return CURL_SOCKOPT_OK;
}

CURLcode ccurl_limit_silence(CURL *easy) {
  return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, limit_silence);
}

CURLcode ccurl_set_guard(CURL *easy, curl_opensocket_callback open, curl_prereq_callback check, void *context) {
  CURLcode result = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
  if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, check);
  if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
  return result;
}

long ccurl_long(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

curl_off_t ccurl_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

const char *ccurl_text(CURL *easy, CURLINFO info) {
  char *value = NULL;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

CURL *ccurl_next_ended(CURLM *multi, CURLcode *result) {
  for (int left;;) {
    CURLMsg *message = curl_multi_info_read(multi, &left);
    if (!message) return NULL;
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
}
