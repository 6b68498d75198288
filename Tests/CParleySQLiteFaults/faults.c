#include "CParleySQLiteFaults.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct faults {
  sqlite3_vfs vfs;
  sqlite3_vfs *system;
  faults_event *events;
  size_t count;
  size_t capacity;
  int fail_kinds;
  int64_t fail_after;
  int64_t fail_count;
  int fail_code;
  size_t torn_bytes;
  int64_t failed_count;
};

// SQLite allocates szOsFile bytes: this, then the system's own file.
typedef struct {
  sqlite3_file base;
  faults *layer;
  const char *ending;
  sqlite3_file *real;
} faults_file;

static faults_file *as_file(sqlite3_file *file) { return (faults_file *)file; }
static sqlite3_file *real(sqlite3_file *file) { return as_file(file)->real; }

static int record(faults *layer, faults_kind kind, const char *file, int64_t offset,
                  const void *data, size_t count) {
  if (layer->count == layer->capacity) {
    size_t capacity = layer->capacity == 0 ? 256 : 2 * layer->capacity;
    faults_event *events = realloc(layer->events, capacity * sizeof *events);
    if (events == NULL) return SQLITE_NOMEM;
    layer->events = events;
    layer->capacity = capacity;
  }
  uint8_t *copy = NULL;
  if (count > 0) {
    copy = malloc(count);
    if (copy == NULL) return SQLITE_NOMEM;
    memcpy(copy, data, count);
  }
  layer->events[layer->count++] = (faults_event){
      .kind = kind, .file = file, .offset = offset, .count = count, .data = copy};
  return SQLITE_OK;
}

// The result code to fail with, or SQLITE_OK.
static int verdict(faults *layer, faults_kind kind) {
  if ((layer->fail_kinds & kind) == 0 || layer->fail_count == 0) return SQLITE_OK;
  if (layer->fail_after > 0) {
    layer->fail_after--;
    return SQLITE_OK;
  }
  layer->fail_count--;
  layer->failed_count++;
  return layer->fail_code;
}

static int file_write(sqlite3_file *file, const void *data, int count, sqlite3_int64 offset) {
  faults_file *self = as_file(file);
  int code = verdict(self->layer, FAULTS_WRITE);
  if (code != SQLITE_OK) {
    size_t through = self->layer->torn_bytes;
    if (through > (size_t)count) through = (size_t)count;
    if (through > 0) {
      record(self->layer, FAULTS_WRITE, self->ending, offset, data, through);
      self->real->pMethods->xWrite(self->real, data, (int)through, offset);
    }
    return code;
  }
  code = record(self->layer, FAULTS_WRITE, self->ending, offset, data, (size_t)count);
  if (code != SQLITE_OK) return code;
  return self->real->pMethods->xWrite(self->real, data, count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  faults_file *self = as_file(file);
  int code = verdict(self->layer, FAULTS_TRUNCATE);
  if (code == SQLITE_OK) code = record(self->layer, FAULTS_TRUNCATE, self->ending, size, NULL, 0);
  if (code != SQLITE_OK) return code;
  return self->real->pMethods->xTruncate(self->real, size);
}

static int file_sync(sqlite3_file *file, int flags) {
  faults_file *self = as_file(file);
  int code = verdict(self->layer, FAULTS_SYNC);
  if (code != SQLITE_OK) return code;
  code = self->real->pMethods->xSync(self->real, flags);
  if (code != SQLITE_OK) return code;
  // Written down after it has happened: what was recorded before it is on the disk.
  return record(self->layer, FAULTS_SYNC, self->ending, 0, NULL, 0);
}

static int file_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int file_read(sqlite3_file *file, void *data, int count, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), data, count, offset);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}

static int file_check_reserved_lock(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

static int file_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend,
                        void volatile **memory) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

static int file_shm_unmap(sqlite3_file *file, int delete) {
  return real(file)->pMethods->xShmUnmap(real(file), delete);
}

// Version 2: without memory mapping, which would write past this layer.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *flags_out) {
  faults *layer = vfs->pAppData;
  faults_file *self = as_file(file);
  self->layer = layer;
  self->ending = (flags & SQLITE_OPEN_WAL) ? "-wal" : (flags & SQLITE_OPEN_MAIN_DB) ? "" : "-other";
  self->real = (sqlite3_file *)(self + 1);
  int code = layer->system->xOpen(layer->system, name, self->real, flags, flags_out);
  self->base.pMethods = self->real->pMethods == NULL ? NULL : &methods;
  return code;
}

faults *faults_create(const char *name) {
  faults *layer = calloc(1, sizeof *layer);
  if (layer == NULL) return NULL;
  layer->system = sqlite3_vfs_find(NULL);
  layer->vfs = *layer->system;
  layer->vfs.zName = strdup(name);
  layer->vfs.pAppData = layer;
  layer->vfs.pNext = NULL;
  layer->vfs.szOsFile = (int)sizeof(faults_file) + layer->system->szOsFile;
  layer->vfs.xOpen = vfs_open;
  if (layer->vfs.zName == NULL || sqlite3_vfs_register(&layer->vfs, 0) != SQLITE_OK) {
    free(layer);
    return NULL;
  }
  return layer;
}

void faults_destroy(faults *layer) {
  sqlite3_vfs_unregister(&layer->vfs);
  for (size_t index = 0; index < layer->count; index++) free((void *)layer->events[index].data);
  free(layer->events);
  free((void *)layer->vfs.zName);
  free(layer);
}

size_t faults_event_count(const faults *layer) { return layer->count; }

faults_event faults_event_at(const faults *layer, size_t index) { return layer->events[index]; }

void faults_mark(faults *layer, int64_t number) {
  record(layer, FAULTS_MARK, "", number, NULL, 0);
}

void faults_fail(faults *layer, int kinds, int64_t after, int64_t count, int code,
                 size_t torn_bytes) {
  layer->fail_kinds = kinds;
  layer->fail_after = after;
  layer->fail_count = count;
  layer->fail_code = code;
  layer->torn_bytes = torn_bytes;
}

int64_t faults_failed_count(const faults *layer) { return layer->failed_count; }
