#include "cnats.h"
#include <dlfcn.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name that Debian's library has kept since 3.0; other systems name it by its minor version. */
static const char *const LIBRARIES[] = {"libnats.so.3.4", "libnats.so.3", "libnats.so"};

/* Limits of a subscription. Messages beyond them are dropped, and the gap in their numbers is noticed. */
enum { MOST_MESSAGES = 65536, MOST_BYTES = 256 << 20, MOST_LISTENED = 8 };

#define FUNCTIONS(X) \
  X(nats_CheckCompatibilityImpl) X(nats_GetLastError) X(nats_ReleaseThreadMemory) X(natsConnection_Connect) \
  X(natsConnection_Close) X(natsConnection_Destroy) X(natsConnection_PublishMsg) X(natsConnection_Status) \
  X(natsConnection_Subscribe) X(natsMsg_Create) X(natsMsg_Destroy) X(natsMsg_GetData) X(natsMsg_GetDataLength) \
  X(natsMsg_GetReply) X(natsMsg_GetSubject) X(natsMsgHeader_Get) X(natsMsgHeader_Set) X(natsOptions_Create) \
  X(natsOptions_Destroy) X(natsOptions_LoadCATrustedCertificates) X(natsOptions_SetClosedCB) \
  X(natsOptions_SetDisconnectedCB) X(natsOptions_SetErrorHandler) X(natsOptions_SetIgnoreDiscoveredServers) \
  X(natsOptions_SetMaxPingsOut) X(natsOptions_SetMaxReconnect) X(natsOptions_SetName) X(natsOptions_SetPingInterval) \
  X(natsOptions_SetReconnectBufSize) X(natsOptions_SetReconnectJitter) X(natsOptions_SetReconnectWait) \
  X(natsOptions_SetSecure) X(natsOptions_SetServers) X(natsOptions_SetTimeout) X(natsOptions_SetToken) \
  X(natsOptions_SetWriteDeadline) X(natsStatus_GetText) X(natsSubscription_Destroy) \
  X(natsSubscription_SetPendingLimits)

static struct {
#define X(name) __typeof__(name) *name;
  FUNCTIONS(X)
#undef X
} nats;

/* Empty once the library is loaded. */
static char missing[256] = "it was not loaded";

static void load_now(void) {
  void *library = NULL;
  for (size_t i = 0; i < sizeof LIBRARIES / sizeof *LIBRARIES && !library; i++) {
    library = dlopen(LIBRARIES[i], RTLD_NOW | RTLD_LOCAL);
    // The error is about the first name, which is Debian's.
    if (!library && i == 0) snprintf(missing, sizeof missing, "%s", dlerror());
  }
  if (!library) return;
#define X(name) \
  nats.name = (__typeof__(nats.name))dlsym(library, #name); \
  if (!nats.name) { \
    snprintf(missing, sizeof missing, "it lacks %s", #name); \
    return; \
  }
  FUNCTIONS(X)
#undef X
  missing[0] = '\0';
}

struct cnats {
  natsConnection *connection;
  natsSubscription *subscriptions[MOST_LISTENED];
  int listened;
  uint64_t number;
  cnats_on_message *on_message;
  cnats_on_change *on_change;
  cnats_on_error *on_error;
};

static const char *header(natsMsg *message, const char *name) {
  const char *value = NULL;
  return nats.natsMsgHeader_Get(message, name, &value) == NATS_OK ? value : NULL;
}

static void received(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
  (void)connection, (void)subscription;
  struct cnats *self = context;
  const char *status = header(message, "Status");
  const int length = nats.natsMsg_GetDataLength(message);
  const cnats_message seen = {
      .subject = nats.natsMsg_GetSubject(message),
      .reply = nats.natsMsg_GetReply(message),
      .bytes = nats.natsMsg_GetData(message),
      .length = length > 0 ? (size_t)length : 0,
      .status = status ? atoi(status) : 0,
      .description = status ? header(message, "Description") : NULL,
      .stream_subject = header(message, "Nats-Subject"),
  };
  self->on_message(self->number, &seen);
  nats.natsMsg_Destroy(message);
}

static void disconnected(natsConnection *connection, void *context) {
  (void)connection;
  struct cnats *self = context;
  self->on_change(self->number, CNATS_DISCONNECTED);
}

static void closed(natsConnection *connection, void *context) {
  (void)connection;
  struct cnats *self = context;
  self->on_change(self->number, CNATS_CLOSED);
}

static void failed(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *context) {
  (void)connection, (void)subscription;
  struct cnats *self = context;
  const char *sentence = nats.nats_GetLastError(NULL);
  self->on_error(self->number, sentence && *sentence ? sentence : nats.natsStatus_GetText(status));
}

static int result(natsStatus status) {
  if (status == NATS_OK) return CNATS_OK;
  // The library keeps an error for each thread that has met one.
  nats.nats_ReleaseThreadMemory();
  switch (status) {
    case NATS_NO_SERVER:
    case NATS_CONNECTION_CLOSED:
    case NATS_INSUFFICIENT_BUFFER:
    case NATS_NOT_YET_CONNECTED: return CNATS_AWAY;
    case NATS_MAX_PAYLOAD: return CNATS_TOO_LARGE;
    case NATS_CONNECTION_AUTH_FAILED:
    case NATS_NOT_PERMITTED: return CNATS_DENIED;
    case NATS_SSL_ERROR:
    case NATS_SECURE_CONNECTION_REQUIRED:
    case NATS_SECURE_CONNECTION_WANTED: return CNATS_INSECURE;
    default: return CNATS_FAILED;
  }
}

static natsStatus set(natsOptions *options, const cnats_options *wanted, struct cnats *self) {
  natsStatus status = nats.natsOptions_SetServers(options, (const char **)wanted->servers, wanted->count);
#define THEN(call) if (status == NATS_OK) status = nats.call
  THEN(natsOptions_SetName(options, wanted->name));
  if (wanted->token) THEN(natsOptions_SetToken(options, wanted->token));
  if (wanted->secure) THEN(natsOptions_SetSecure(options, true));
  if (wanted->authority) THEN(natsOptions_LoadCATrustedCertificates(options, wanted->authority));
  // Servers that servers tell of are not the operator's choice.
  THEN(natsOptions_SetIgnoreDiscoveredServers(options, true));
  THEN(natsOptions_SetTimeout(options, 2000));
  THEN(natsOptions_SetWriteDeadline(options, 2000));
  // A server that stands still is left after six seconds.
  THEN(natsOptions_SetPingInterval(options, 2000));
  THEN(natsOptions_SetMaxPingsOut(options, 2));
  THEN(natsOptions_SetMaxReconnect(options, -1));
  THEN(natsOptions_SetReconnectWait(options, 200));
  THEN(natsOptions_SetReconnectJitter(options, 100, 100));
  // Nothing is kept for a later connection: its sender would have given up by then.
  THEN(natsOptions_SetReconnectBufSize(options, 1));
  THEN(natsOptions_SetDisconnectedCB(options, disconnected, self));
  THEN(natsOptions_SetClosedCB(options, closed, self));
  THEN(natsOptions_SetErrorHandler(options, failed, self));
#undef THEN
  return status;
}

int cnats_connect(const cnats_options *wanted, cnats **connection, char *why, size_t size) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_now);
  if (missing[0]) {
    snprintf(why, size, "libnats cannot be used (%s): install the package libnats3.4", missing);
    return CNATS_NO_LIBRARY;
  }
  natsOptions *options = NULL;
  // It is never freed: the library may still be in one of its callbacks after the last one that matters.
  struct cnats *self = calloc(1, sizeof *self);
  if (!self) abort();
  self->number = wanted->number;
  self->on_message = wanted->on_message;
  self->on_change = wanted->on_change;
  self->on_error = wanted->on_error;
  natsStatus status = nats.natsOptions_Create(&options);
  if (status == NATS_OK) status = set(options, wanted, self);
  if (status == NATS_OK) status = nats.natsConnection_Connect(&self->connection, options);
  nats.natsOptions_Destroy(options);
  if (status != NATS_OK) {
    const char *sentence = nats.nats_GetLastError(NULL);
    snprintf(why, size, "%s", sentence && *sentence ? sentence : nats.natsStatus_GetText(status));
    return result(status);
  }
  const int listened = cnats_listen(self, wanted->inbox);
  if (listened != CNATS_OK) {
    snprintf(why, size, "its messages cannot be received");
    cnats_close(self);
    return listened;
  }
  *connection = self;
  return CNATS_OK;
}

int cnats_listen(cnats *self, const char *subject) {
  if (self->listened == MOST_LISTENED) return CNATS_FAILED;
  natsSubscription *subscription = NULL;
  natsStatus status = nats.natsConnection_Subscribe(&subscription, self->connection, subject, received, self);
  if (status != NATS_OK) return result(status);
  self->subscriptions[self->listened++] = subscription;
  return result(nats.natsSubscription_SetPendingLimits(subscription, MOST_MESSAGES, MOST_BYTES));
}

int cnats_send(cnats *self, const char *subject, const char *reply, const char *const *headers, int count,
               const void *bytes, size_t length) {
  if (length > 64 << 20) return CNATS_TOO_LARGE;
  // Between two connections the library would keep the message.
  if (nats.natsConnection_Status(self->connection) != NATS_CONN_STATUS_CONNECTED) return CNATS_AWAY;
  natsMsg *message = NULL;
  natsStatus status = nats.natsMsg_Create(&message, subject, reply, bytes, (int)length);
  for (int i = 0; status == NATS_OK && i + 1 < count; i += 2)
    status = nats.natsMsgHeader_Set(message, headers[i], headers[i + 1]);
  if (status == NATS_OK) status = nats.natsConnection_PublishMsg(self->connection, message);
  nats.natsMsg_Destroy(message);
  return result(status);
}

void cnats_close(cnats *self) {
  nats.natsConnection_Close(self->connection);
  for (int i = 0; i < self->listened; i++) nats.natsSubscription_Destroy(self->subscriptions[i]);
  nats.natsConnection_Destroy(self->connection);
}
