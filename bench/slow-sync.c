/* Preloaded into a server: fsync and fdatasync take SLOW_SYNC_US microseconds longer, as on a disk whose flush
 * is real. The sleep comes first, so that nothing is on the disk any sooner than the call says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int sync_call(int fd);

static int slowly(const char *name, int fd) {
  const char *text = getenv("SLOW_SYNC_US");
  long us = text ? atol(text) : 0;
  struct timespec wait = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&wait, NULL);
  return ((sync_call *)dlsym(RTLD_NEXT, name))(fd);
}

int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
