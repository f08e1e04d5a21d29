/* Preloaded into h2load, which reads the file of its request body anew for each request but cannot change it. A
 * write that changes nothing commits nothing, so this counts the requests up inside the body.
 *
 * VARY_BODY="<at> <step> <name at>": the eight bytes at <at>, <at> + <step>, … are letters of the file to which one
 * hexadecimal digit of the counter each is added, which works in plain text and inside base64 alike. To the byte at
 * <name at> the counter modulo VARY_NAMES is added, so that requests take the names in turn; -1: no such byte. Beyond
 * eight names the byte before it counts the eights. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define DIGITS 8

typedef ssize_t pread_call(int fd, void *buffer, size_t size, off_t offset);

static ssize_t vary(const char *call, int fd, char *buffer, size_t size, off_t offset) {
  static unsigned counter;
  ssize_t length = ((pread_call *)dlsym(RTLD_NEXT, call))(fd, buffer, size, offset);
  const char *places = getenv("VARY_BODY"), *names = getenv("VARY_NAMES");
  long at, step, name_at;
  if (offset != 0 || !places || sscanf(places, "%ld %ld %ld", &at, &step, &name_at) != 3) return length;
  if (length <= at + (DIGITS - 1) * step) return length;
  for (int i = 0; i < DIGITS; i++) buffer[at + i * step] += counter >> (4 * i) & 15;
  if (name_at > 0 && names) {
    unsigned name = counter % (unsigned)atol(names);
    buffer[name_at] += name % 8;
    buffer[name_at - 1] += name / 8;
  }
  counter++;
  return length;
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset) { return vary("pread", fd, buffer, size, offset); }
ssize_t pread64(int fd, void *buffer, size_t size, off_t offset) { return vary("pread64", fd, buffer, size, offset); }
