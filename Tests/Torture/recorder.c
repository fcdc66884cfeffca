/* A small file system of two files that writes down, in order, what happens to them:

       recorder IMAGE RECORD MARKS MOUNTPOINT

   `disk` is the image: the disk of a loop device. Each of its writes and syncs is in the record before it is answered.
   `marks` takes lines from anybody: a program whose output it is has each of its sentences in the record, at the place in
   between the writes where it was said. They are appended to the file MARKS, too.

   An entry of the record is `struct entry` and, of a write and a mark, its bytes. It talks to the kernel itself, and needs
   no library. It ends when it is unmounted; when it is killed, the disk answers with errors and nobody hangs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LARGEST = 1 << 20, BUFFER = LARGEST + (1 << 16), DISK = 2, MARKS = 3 };

struct entry {
  uint32_t kind; /* 'W'rite, 'Z'eroes, 'F'lush, 'M'ark */
  uint32_t length;
  uint64_t offset;
};

static int device, record, files[4];
static char request[BUFFER], answer[LARGEST];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void write_down(uint32_t kind, uint64_t offset, const void *bytes, uint32_t length, int has_bytes) {
  struct entry entry = {kind, length, offset};
  struct iovec parts[] = {{&entry, sizeof entry}, {(void *)bytes, has_bytes ? length : 0}};
  if (writev(record, parts, 2) != (ssize_t)(sizeof entry + parts[1].iov_len)) fail("the record");
}

static void reply(const struct fuse_in_header *in, int error, const void *bytes, size_t length) {
  struct fuse_out_header out = {sizeof out + length, error, in->unique};
  struct iovec parts[] = {{&out, sizeof out}, {(void *)bytes, length}};
  /* The caller may have been killed meanwhile. */
  if (writev(device, parts, 2) < 0 && errno != ENOENT) fail("the answer");
}

static struct fuse_attr attributes(uint64_t node) {
  struct stat found;
  struct fuse_attr made = {.ino = node, .nlink = 1, .mode = S_IFDIR | 0755, .blksize = 4096};
  if (node == FUSE_ROOT_ID) return made;
  if (fstat(files[node], &found) != 0) fail("the image");
  made.mode = S_IFREG | 0600;
  made.size = found.st_size;
  made.blocks = (made.size + 511) / 512;
  return made;
}

/* 0, or the error: what is not there, zeroed without its bytes in the record. */
static int zero(const struct fuse_fallocate_in *wanted) {
  static const char nothing[1 << 16];
  if (!(wanted->mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) || wanted->length > UINT32_MAX) return -EOPNOTSUPP;
  for (uint64_t done = 0; done < wanted->length;) {
    size_t left = wanted->length - done, some = left < sizeof nothing ? left : sizeof nothing;
    if (pwrite(files[DISK], nothing, some, wanted->offset + done) != (ssize_t)some) return -EIO;
    done += some;
  }
  write_down('Z', wanted->offset, NULL, wanted->length, 0);
  return 0;
}

static void take(const struct fuse_in_header *in, const void *argument) {
  uint64_t node = in->nodeid;
  switch (in->opcode) {
  case FUSE_INIT: {
    const struct fuse_init_in *asked = argument;
    struct fuse_init_out made = {
        .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_readahead = asked->max_readahead,
        .flags = asked->flags & (FUSE_BIG_WRITES | FUSE_MAX_PAGES), .max_write = LARGEST, .max_pages = LARGEST / 4096,
        .max_background = 64, .congestion_threshold = 48, .time_gran = 1};
    return reply(in, 0, &made, sizeof made);
  }
  case FUSE_LOOKUP: {
    struct fuse_entry_out made = {.attr_valid = 3600, .entry_valid = 3600};
    made.nodeid = strcmp(argument, "disk") == 0 ? DISK : strcmp(argument, "marks") == 0 ? MARKS : 0;
    if (!made.nodeid) return reply(in, -ENOENT, NULL, 0);
    made.attr = attributes(made.nodeid);
    return reply(in, 0, &made, sizeof made);
  }
  case FUSE_GETATTR:
  case FUSE_SETATTR: {
    struct fuse_attr_out made = {.attr_valid = 3600, .attr = attributes(node)};
    return reply(in, 0, &made, sizeof made);
  }
  case FUSE_OPEN: {
    struct fuse_open_out made = {.open_flags = node == MARKS ? FOPEN_DIRECT_IO | FOPEN_NONSEEKABLE : FOPEN_KEEP_CACHE};
    return reply(in, 0, &made, sizeof made);
  }
  case FUSE_READ: {
    const struct fuse_read_in *wanted = argument;
    ssize_t count = pread(files[node], answer, wanted->size, wanted->offset);
    return reply(in, count < 0 ? -EIO : 0, answer, count < 0 ? 0 : count);
  }
  case FUSE_WRITE: {
    const struct fuse_write_in *wanted = argument;
    const char *bytes = (const char *)(wanted + 1);
    struct fuse_write_out made = {.size = wanted->size};
    /* Marks are appended, wherever the writer believes to be. */
    ssize_t count = node == DISK ? pwrite(files[DISK], bytes, wanted->size, wanted->offset)
                                 : write(files[MARKS], bytes, wanted->size);
    if (count != (ssize_t)wanted->size) return reply(in, -EIO, NULL, 0);
    write_down(node == DISK ? 'W' : 'M', wanted->offset, bytes, wanted->size, 1);
    return reply(in, 0, &made, sizeof made);
  }
  case FUSE_FSYNC:
    if (node == DISK) write_down('F', 0, NULL, 0, 0);
    return reply(in, 0, NULL, 0);
  case FUSE_FALLOCATE:
    return reply(in, node == DISK ? zero(argument) : -EOPNOTSUPP, NULL, 0);
  case FUSE_FLUSH:
  case FUSE_RELEASE:
  case FUSE_DESTROY:
    return reply(in, 0, NULL, 0);
  case FUSE_FORGET:
  case FUSE_BATCH_FORGET:
  case FUSE_INTERRUPT:
    return;
  default:
    return reply(in, -ENOSYS, NULL, 0);
  }
}

int main(int count, char **words) {
  char options[128];
  if (count != 5) return 64;
  if ((files[DISK] = open(words[1], O_RDWR | O_CLOEXEC)) < 0) fail(words[1]);
  if ((record = open(words[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0) fail(words[2]);
  if ((files[MARKS] = open(words[3], O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600)) < 0) fail(words[3]);
  if ((device = open("/dev/fuse", O_RDWR | O_CLOEXEC)) < 0) fail("/dev/fuse");
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,max_read=%d", device, LARGEST);
  if (mount("recorder", words[4], "fuse", MS_NOSUID | MS_NODEV, options) != 0) fail("mount");
  puts("ready");
  fflush(stdout);
  for (;;) {
    ssize_t length = read(device, request, sizeof request);
    if (length < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
    if (length < 0 && errno == ENODEV) return 0;
    if (length < (ssize_t)sizeof(struct fuse_in_header)) fail("the kernel");
    take((const struct fuse_in_header *)request, request + sizeof(struct fuse_in_header));
  }
}
