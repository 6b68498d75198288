// A layer between SQLite and the disk that writes down what SQLite does to its files, and fails
// when told to. For tests: from what it wrote down, a test can make the files as a power cut at any
// moment would have left them.

#ifndef CSQLITEFAULTS_H
#define CSQLITEFAULTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct faults faults;

typedef enum {
  FAULTS_WRITE = 1,
  FAULTS_TRUNCATE = 2,
  FAULTS_SYNC = 4,
  // A test's own note of the moment.
  FAULTS_MARK = 8,
} faults_kind;

typedef struct {
  faults_kind kind;
  // The ending of the file's name: "" for the database itself, "-wal" for its log.
  const char *file;
  int64_t offset;  // of a write; the new size for a truncation; the number of a mark
  size_t count;    // bytes written
  const uint8_t *data;
} faults_event;

// Makes a layer and registers it with SQLite under the name. Null if there is no memory.
faults *faults_create(const char *name);

// Unregisters the layer. No file may be open through it.
void faults_destroy(faults *layer);

size_t faults_event_count(const faults *layer);
faults_event faults_event_at(const faults *layer, size_t index);
void faults_mark(faults *layer, int64_t number);

// Lets `after` calls of the kinds through, then fails `count` of them with the result code. Of a
// failing write, the first `torn_bytes` still reach the file. An earlier order is replaced.
void faults_fail(faults *layer, int kinds, int64_t after, int64_t count, int code,
                 size_t torn_bytes);

// How many calls have failed as ordered.
int64_t faults_failed_count(const faults *layer);

#endif
