/* Takes HTTP/1.1 requests with a body as fast as they come and answers each with 200 and {}: the receiver of a benchmark, as
   smtp-sink is Postfix's. sink PORT COUNTER: the number of requests that were taken whole is kept, as 64 bits, in the file
   COUNTER, for programs that map it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LARGEST = 1 << 20 };

struct connection {
  int socket;
  size_t held, room;
  char *bytes;
};

static _Atomic uint64_t *taken;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* The length of the first request in `bytes`; 0 while it is not whole. */
static size_t request(const char *bytes, size_t held) {
  const char *end = memmem(bytes, held, "\r\n\r\n", 4);
  if (!end) return 0;
  size_t head = end + 4 - bytes, body = 0;
  for (const char *line = bytes; line < end; line = (const char *)memchr(line, '\n', end + 2 - line) + 1)
    if (!strncasecmp(line, "content-length:", 15)) body = strtoul(line + 15, NULL, 10);
  return held >= head + body ? head + body : 0;
}

/* False when the connection is over. */
static int serve(struct connection *one) {
  static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  if (one->room - one->held < 4096) {
    one->room = one->room ? one->room * 2 : 16384;
    if (one->room > LARGEST || !(one->bytes = realloc(one->bytes, one->room))) return 0;
  }
  ssize_t count = read(one->socket, one->bytes + one->held, one->room - one->held);
  if (count <= 0) return 0;
  one->held += count;
  for (size_t length; (length = request(one->bytes, one->held));) {
    memmove(one->bytes, one->bytes + length, one->held -= length);
    atomic_fetch_add(taken, 1);
    if (write(one->socket, answer, sizeof answer - 1) != sizeof answer - 1) return 0;
  }
  return 1;
}

int main(int count, char **words) {
  if (count != 3) return fprintf(stderr, "usage: sink PORT COUNTER\n"), 64;
  int file = open(words[2], O_RDWR | O_CREAT, 0600), on = 1;
  if (file < 0 || ftruncate(file, sizeof *taken) < 0) fail(words[2]);
  taken = mmap(NULL, sizeof *taken, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (taken == MAP_FAILED) fail(words[2]);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), poll = epoll_create1(EPOLL_CLOEXEC);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 512) < 0) fail("listen");
  struct epoll_event event = {.events = EPOLLIN}, events[64];
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(poll, events, 64, -1);
    for (int k = 0; k < ready; k++) {
      struct connection *one = events[k].data.ptr;
      if (!one) {
        int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket < 0) continue;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (!(one = calloc(1, sizeof *one))) fail("memory");
        one->socket = socket;
        event = (struct epoll_event){.events = EPOLLIN, .data.ptr = one};
        epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
      } else if (!serve(one)) {
        close(one->socket);
        free(one->bytes);
        free(one);
      }
    }
  }
}
