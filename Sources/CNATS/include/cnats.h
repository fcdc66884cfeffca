/* libnats for Swift: connections, messages in both directions, and nothing of JetStream, whose protocol is JSON in messages.

   The library is loaded with the first `cnats_connect`, and not with the program. Where it cannot be loaded, that call
   fails with a sentence. No callback is called with a lock of the caller's held; they run on threads of the library. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cnats cnats;

/* A message. All pointers live until the callback returns; texts may be null. */
typedef struct {
  const char *subject;
  const char *reply;
  const void *bytes;
  size_t length;
  /* The server's own status, such as 503 for no responders; 0 for a message from a client. */
  int status;
  const char *description;
  /* The subject in its stream, of a message that was read from one. */
  const char *stream_subject;
} cnats_message;

enum cnats_change { CNATS_DISCONNECTED, CNATS_CLOSED };

/* The number is that of `cnats_options`. */
typedef void cnats_on_message(uint64_t number, const cnats_message *message);
typedef void cnats_on_change(uint64_t number, int change);
typedef void cnats_on_error(uint64_t number, const char *sentence);

typedef struct {
  const char *const *servers;
  int count;
  const char *name;
  /* Null for none. */
  const char *token;
  bool secure;
  /* A file of trusted authorities, beside those of the system; null for none. */
  const char *authority;
  /* All messages to this subject are received. */
  const char *inbox;
  uint64_t number;
  cnats_on_message *on_message;
  cnats_on_change *on_change;
  cnats_on_error *on_error;
} cnats_options;

enum cnats_result {
  CNATS_OK,
  /* Not sent: there is no connection now. */
  CNATS_AWAY,
  /* Not sent: larger than the server takes. */
  CNATS_TOO_LARGE,
  /* The server refuses the token. */
  CNATS_DENIED,
  /* TLS failed. */
  CNATS_INSECURE,
  /* The library is missing, or lacks something. */
  CNATS_NO_LIBRARY,
  /* Anything else; a message may have been sent. */
  CNATS_FAILED,
};

/* Connects to one of the servers, and to another one whenever that one goes away, until it is closed. Blocks for some
   seconds at most for each server. `why` gets a sentence if it fails. */
int cnats_connect(const cnats_options *options, cnats **connection, char *why, size_t size);

/* Receives messages to a subject, which may have wildcards, as those to the inbox. */
int cnats_listen(cnats *connection, const char *subject);

/* Sends a message with headers: pairs of name and value. `reply` may be null. May block while the connection is full, for
   two seconds at most. */
int cnats_send(cnats *connection, const char *subject, const char *reply, const char *const *headers, int count,
               const void *bytes, size_t length);

/* Closes, and frees it. The last change to come is CNATS_CLOSED. */
void cnats_close(cnats *connection);
