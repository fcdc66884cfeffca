/* Drops text requests as a client does, as fast as it can: mkdir, the files, a rename into new/. Like smtp-source it imitates
   how people send, and not what. drop SPOOL NAME COUNT BYTES CONVERSATIONS */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(int directory, const char *name, const char *bytes, size_t length) {
  int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (file < 0 || write(file, bytes, length) != (ssize_t)length || close(file) < 0) {
    perror(name);
    exit(1);
  }
}

int main(int words, char **word) {
  if (words != 6) return fprintf(stderr, "usage: drop SPOOL NAME COUNT BYTES CONVERSATIONS\n"), 64;
  long count = atol(word[3]), bytes = atol(word[4]), conversations = atol(word[5]);
  char *text = malloc(bytes + 1), name[256], target[256], to[64];
  if (!text || chdir(word[1]) < 0) return perror(word[1]), 1;
  memset(text, 'x', bytes);
  for (long number = 0; number < count; number++) {
    snprintf(name, sizeof name, "tmp/%s-%07ld", word[2], number);
    snprintf(target, sizeof target, "new/%s-%07ld", word[2], number);
    int length = snprintf(to, sizeof to, "c%ld\n", number % conversations);
    int directory = mkdir(name, 0770) < 0 ? -1 : open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return perror(name), 1;
    put(directory, "to", to, length);
    put(directory, "text", text, bytes);
    close(directory);
    if (rename(name, target) < 0) return perror(target), 1;
  }
}
