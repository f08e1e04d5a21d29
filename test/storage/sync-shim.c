// LD_PRELOAD for sync.test.ts: makes visible when a file reaches the disk.
//
//   SYNC_SHIM_LOG    appends `write` after each write to a -wal file and `sync` after each sync of one
//   SYNC_SHIM_COPY   folder that gets a copy of each regular file as of its last sync: what a loss of
//                    power would leave
//   SYNC_SHIM_FAIL   while this path exists, syncs of -wal files fail with EIO
//   SYNC_SHIM_US     adds this many microseconds to each sync of a -wal file, so that whoever does not wait
//                    for it is caught
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void path_of(int fd, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  path[length < 0 ? 0 : length] = 0;
}

static int is_wal(const char *path) {
  size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, "-wal") == 0;
}

// One write to a descriptor opened with O_APPEND: lines of several threads keep their order.
static void note(const char *line) {
  static int log = -1;
  if (log < 0) log = open(getenv("SYNC_SHIM_LOG"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (write(log, line, strlen(line)) < 0) abort();
}

static void copy_path(const char *path, char *copy, size_t size) {
  const char *name = strrchr(path, '/');
  snprintf(copy, size, "%s/%s", getenv("SYNC_SHIM_COPY"), name ? name + 1 : path);
}

// Reads through the descriptor that is there: closing another one would drop SQLite's locks on the file.
static void copy_file(int fd, const char *path) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return;
  char copy[4096], bytes[65536];
  copy_path(path, copy, sizeof copy);
  int out = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  off_t at = 0;
  for (ssize_t got; (got = pread(fd, bytes, sizeof bytes, at)) > 0; at += got) {
    if (write(out, bytes, got) != got) abort();
  }
  close(out);
}

static int sync_with(const char *name, int fd) {
  char path[4096];
  path_of(fd, path, sizeof path);
  int wal = is_wal(path);
  if (wal && access(getenv("SYNC_SHIM_FAIL"), F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  int result = ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
  if (result != 0) return result;
  if (wal) usleep(atoi(getenv("SYNC_SHIM_US")));
  copy_file(fd, path);
  if (wal) note("sync\n");
  return 0;
}

int fsync(int fd) { return sync_with("fsync", fd); }
int fdatasync(int fd) { return sync_with("fdatasync", fd); }

typedef ssize_t (*write_function)(int, const void *, size_t, off_t);

static ssize_t write_with(const char *name, int fd, const void *bytes, size_t count, off_t at) {
  ssize_t result = ((write_function)dlsym(RTLD_NEXT, name))(fd, bytes, count, at);
  char path[4096];
  path_of(fd, path, sizeof path);
  if (is_wal(path)) note("write\n");
  return result;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  return write_with("pwrite", fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  return write_with("pwrite64", fd, bytes, count, at);
}

int unlink(const char *path) {
  char copy[4096];
  copy_path(path, copy, sizeof copy);
  int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
  real(copy);
  return real(path);
}
