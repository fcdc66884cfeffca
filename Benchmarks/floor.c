/* The minimum of work for a text, in a number of processes: reads and syncs its files, notes it, renames it into cur/,
   posts it, notes it again, writes its receipt, removes its files, and renames it into sent/; everything possible is
   done for a whole batch. It keeps no order, checks, signs, retries and logs nothing, knows no ledger, and could not
   say after a crash what it had done. floor SPOOL PORT PROCESSES */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH = 128, MOST = 4096 };

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int joined(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int line = socket(AF_INET, SOCK_STREAM, 0);
  if (line < 0 || connect(line, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
  return line;
}

static void post(int line, const char *body, int length) {
  char buffer[MOST + 256], answer[MOST];
  int head = snprintf(buffer, sizeof buffer, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n", length);
  memcpy(buffer + head, body, length);
  if (send(line, buffer, head + length, 0) != head + length || recv(line, answer, sizeof answer, 0) <= 0) fail("post");
}

static int contents(int directory, const char *name, char *bytes, int room) {
  int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  int length = file < 0 ? -1 : read(file, bytes, room);
  if (length < 0) fail(name);
  close(file);
  return length;
}

static void put(int directory, const char *name, const char *bytes, int length) {
  int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 || write(file, bytes, length) != length || close(file) < 0) fail(name);
}

/* Takes what is there of one process's share; answers how many that were. */
static int serve(int spool, int note, int line, int share, int shares) {
  static char names[BATCH][256], texts[BATCH][MOST];
  static int lengths[BATCH];
  char to[256], old[300], new[300];
  int count = 0;
  DIR *entries = fdopendir(openat(spool, "new", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!entries) fail("new");
  for (struct dirent *entry; count < BATCH && (entry = readdir(entries));)
    if (*entry->d_name != '.' && entry->d_name[strlen(entry->d_name) - 1] % shares == share)
      strcpy(names[count++], entry->d_name);
  closedir(entries);
  if (!count) return 0;
  for (int i = 0; i < count; i++) {
    snprintf(old, sizeof old, "new/%s", names[i]);
    int directory = openat(spool, old, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    contents(directory, "to", to, sizeof to);
    lengths[i] = contents(directory, "text", texts[i], MOST);
    close(directory);
    dprintf(note, "accepted %s\n", names[i]);
  }
  if (syncfs(spool) < 0) fail("syncfs");
  for (int i = 0; i < count; i++) {
    snprintf(old, sizeof old, "new/%s", names[i]);
    snprintf(new, sizeof new, "cur/%s", names[i]);
    if (renameat(spool, old, spool, new) < 0) fail(old);
  }
  for (int i = 0; i < count; i++) post(line, texts[i], lengths[i]);
  for (int i = 0; i < count; i++) {
    dprintf(note, "sent %s\n", names[i]);
    snprintf(old, sizeof old, "cur/%s", names[i]);
    snprintf(new, sizeof new, "sent/%s", names[i]);
    int directory = openat(spool, old, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    put(directory, "receipt.json", texts[i], lengths[i] < 400 ? lengths[i] : 400);
    if (unlinkat(directory, "to", 0) < 0 || unlinkat(directory, "text", 0) < 0) fail(old);
    close(directory);
    if (renameat(spool, old, spool, new) < 0) fail(old);
  }
  if (syncfs(spool) < 0) fail("syncfs");
  return count;
}

int main(int words, char **word) {
  if (words != 4) return fprintf(stderr, "usage: floor SPOOL PORT PROCESSES\n"), 64;
  int port = atoi(word[2]), shares = atoi(word[3]), share = 0;
  while (share < shares - 1 && fork()) share++;
  // The first ends with a signal, and all others with it.
  if (share < shares - 1) prctl(PR_SET_PDEATHSIG, SIGKILL);
  int spool = open(word[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int note = openat(spool, "notes", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (spool < 0 || note < 0) fail(word[1]);
  for (int line = joined(port);;)
    if (!serve(spool, note, line, share, shares)) usleep(500);
}
