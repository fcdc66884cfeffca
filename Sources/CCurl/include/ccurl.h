/* libcurl for Swift, which cannot call variadic functions: one typed wrapper per kind of value.

   The library is loaded with the first call of a function that is marked so, and not with the program: it brings thirty
   others along, and most commands never talk to anybody. Where it cannot be loaded, that call ends the program with a
   sentence, as the dynamic linker would have done. */
#pragma once
#include <curl/curl.h>

/* curl_global_init(3) with all that the library needs. Once, before any transfer. Loads the library. */
CURLcode ccurl_start(void);

/* curl_version(3). Loads the library. */
const char *ccurl_version(void);

/* curl_getdate(3). Loads the library. */
time_t ccurl_date(const char *text);

/* curl_url(3), which loads the library, and what belongs to it. */
CURLU *ccurl_url(void);
void ccurl_url_free(CURLU *url);
CURLUcode ccurl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned flags);
CURLUcode ccurl_url_get(CURLU *url, CURLUPart part, char **text);
void ccurl_free(void *text);

/* curl_easy_init(3), curl_easy_reset(3) and curl_easy_cleanup(3). */
CURL *ccurl_easy(void);
void ccurl_easy_reset(CURL *easy);
void ccurl_easy_free(CURL *easy);

/* curl_slist_append(3) and curl_slist_free_all(3). */
struct curl_slist *ccurl_list_append(struct curl_slist *list, const char *text);
void ccurl_list_free(struct curl_slist *list);

/* curl_easy_setopt(3). Texts are copied by libcurl; lists must outlive the transfer. */
CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value);
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);

/* The body of a POST, of as many bytes as CURLOPT_POSTFIELDSIZE_LARGE was set to. It is copied. */
CURLcode ccurl_set_body(CURL *easy, const void *bytes);

/* The callbacks of a transfer, which all get `context`. */
CURLcode ccurl_set_reader(CURL *easy, curl_read_callback read, curl_seek_callback seek, void *context);
CURLcode ccurl_set_writer(CURL *easy, curl_write_callback head, curl_write_callback body, void *context);

/* Has the transfer's connections closed in programs that this process starts, which libcurl by itself does not. Has the
   kernel end them when they are dead, also before they are there; while nothing is sent, it asks the other end whether it
   is still there. A host that takes its time to answer is not dead. */
CURLcode ccurl_set_sockets(CURL *easy);

/* Who makes the sockets, and who looks at each connection before it is used. */
CURLcode ccurl_set_guard(CURL *easy, curl_opensocket_callback open, curl_prereq_callback check, void *context);

/* curl_easy_getinfo(3); what is not known is 0. */
long ccurl_long(CURL *easy, CURLINFO info);
curl_off_t ccurl_offset(CURL *easy, CURLINFO info);

/* curl_multi_init(3), curl_multi_cleanup(3), and their fellows. */
CURLM *ccurl_multi(void);
void ccurl_multi_free(CURLM *multi);
CURLMcode ccurl_multi_add(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_remove(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_perform(CURLM *multi, int *running);
/* Waits without an end for something to do, or for `ccurl_multi_wake`. */
CURLMcode ccurl_multi_wait(CURLM *multi);
CURLMcode ccurl_multi_wake(CURLM *multi);

/* curl_multi_setopt(3). */
CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/* curl_multi_info_read(3) for the next transfer that has ended: its handle, and how it ended in `result`. Null when
   there is none. */
CURL *ccurl_next_ended(CURLM *multi, CURLcode *result);
