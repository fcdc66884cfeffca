#define _GNU_SOURCE
#include "ccurl.h"
#include <dlfcn.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sysexits.h>

/* The name that libcurl has kept for as long as its interface. */
#define LIBRARY "libcurl.so.4"

#define FUNCTIONS(X) \
  X(easy_cleanup) X(easy_getinfo) X(easy_init) X(easy_reset) X(easy_setopt) X(free) X(getdate) X(global_init) X(multi_add_handle) \
  X(multi_cleanup) X(multi_info_read) X(multi_init) X(multi_perform) X(multi_poll) X(multi_remove_handle) \
  X(multi_setopt) X(multi_wakeup) X(slist_append) X(slist_free_all) X(url) X(url_cleanup) X(url_get) X(url_set) \
  X(version)

static struct {
#define X(name) __typeof__(curl_##name) *name;
  FUNCTIONS(X)
#undef X
} curl;

static void *function(void *library, const char *name) {
  void *found = library ? dlsym(library, name) : NULL;
  if (found) return found;
  fprintf(stderr, "photospool: libcurl cannot be used (%s): install the package libcurl4\n", dlerror());
  exit(EX_UNAVAILABLE);
}

static void load_now(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
#define X(name) curl.name = (__typeof__(curl.name))function(library, "curl_" #name);
  FUNCTIONS(X)
#undef X
}

static void load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_now);
}

CURLcode ccurl_start(void) {
  load();
  return curl.global_init(CURL_GLOBAL_DEFAULT);
}

const char *ccurl_version(void) {
  load();
  return curl.version();
}

time_t ccurl_date(const char *text) {
  load();
  return curl.getdate(text, NULL);
}

CURLU *ccurl_url(void) {
  load();
  return curl.url();
}

void ccurl_url_free(CURLU *url) { curl.url_cleanup(url); }

CURLUcode ccurl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned flags) {
  return curl.url_set(url, part, text, flags);
}

CURLUcode ccurl_url_get(CURLU *url, CURLUPart part, char **text) { return curl.url_get(url, part, text, 0); }

void ccurl_free(void *text) { curl.free(text); }

CURL *ccurl_easy(void) { return curl.easy_init(); }

void ccurl_easy_reset(CURL *easy) { curl.easy_reset(easy); }

void ccurl_easy_free(CURL *easy) { curl.easy_cleanup(easy); }

struct curl_slist *ccurl_list_append(struct curl_slist *list, const char *text) {
  return curl.slist_append(list, text);
}

void ccurl_list_free(struct curl_slist *list) { curl.slist_free_all(list); }

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) { return curl.easy_setopt(easy, option, value); }

CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl.easy_setopt(easy, option, value);
}

CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl.easy_setopt(easy, option, value);
}

CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl.easy_setopt(easy, option, value);
}

CURLcode ccurl_set_body(CURL *easy, const void *bytes) {
  return curl.easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes ? bytes : "");
}

CURLcode ccurl_set_reader(CURL *easy, curl_read_callback read, curl_seek_callback seek, void *context) {
  CURLcode result = curl.easy_setopt(easy, CURLOPT_READFUNCTION, read);
  if (result == CURLE_OK) result = curl.easy_setopt(easy, CURLOPT_READDATA, context);
  if (result == CURLE_OK) result = curl.easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek);
  if (result == CURLE_OK) result = curl.easy_setopt(easy, CURLOPT_SEEKDATA, context);
  return result;
}

CURLcode ccurl_set_writer(CURL *easy, curl_write_callback head, curl_write_callback body, void *context) {
  CURLcode result = curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, head);
  if (result == CURLE_OK) result = curl.easy_setopt(easy, CURLOPT_HEADERDATA, context);
  if (result == CURLE_OK) result = curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  if (result == CURLE_OK) result = curl.easy_setopt(easy, CURLOPT_WRITEDATA, context);
  return result;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)context, (void)purpose;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Seconds after which a connection is dead on which nothing that was sent is acknowledged or taken. */
enum { SILENCE = 10 };

static int limit_silence(void *context, curl_socket_t socket, curlsocktype purpose) {
  (void)context, (void)purpose;
  const unsigned milliseconds = SILENCE * 1000;
  const int on = 1, pause = SILENCE / 2;
  // A kernel without these options leaves the transfer to its other limits.
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &pause, sizeof pause);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof pause);
  return CURL_SOCKOPT_OK;
}

CURLcode ccurl_set_sockets(CURL *easy) {
  CURLcode result = curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  return result == CURLE_OK ? curl.easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, limit_silence) : result;
}

CURLcode ccurl_set_guard(CURL *easy, curl_opensocket_callback open, curl_prereq_callback check, void *context) {
  CURLcode result = curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  if (result == CURLE_OK) result = curl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
  if (result == CURLE_OK) result = curl.easy_setopt(easy, CURLOPT_PREREQFUNCTION, check);
  if (result == CURLE_OK) result = curl.easy_setopt(easy, CURLOPT_PREREQDATA, context);
  return result;
}

long ccurl_long(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl.easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

curl_off_t ccurl_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return curl.easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

CURLM *ccurl_multi(void) { return curl.multi_init(); }

void ccurl_multi_free(CURLM *multi) { curl.multi_cleanup(multi); }

CURLMcode ccurl_multi_add(CURLM *multi, CURL *easy) { return curl.multi_add_handle(multi, easy); }

CURLMcode ccurl_multi_remove(CURLM *multi, CURL *easy) { return curl.multi_remove_handle(multi, easy); }

CURLMcode ccurl_multi_perform(CURLM *multi, int *running) { return curl.multi_perform(multi, running); }

CURLMcode ccurl_multi_wait(CURLM *multi) { return curl.multi_poll(multi, NULL, 0, INT_MAX, NULL); }

CURLMcode ccurl_multi_wake(CURLM *multi) { return curl.multi_wakeup(multi); }

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl.multi_setopt(multi, option, value);
}

CURL *ccurl_next_ended(CURLM *multi, CURLcode *result) {
  for (int left;;) {
    CURLMsg *message = curl.multi_info_read(multi, &left);
    if (!message) return NULL;
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
}
