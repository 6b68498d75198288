// What the machine allows: the least work that each workload of OTCore needs, without anything that
// a library owes its users. No check, no error, no Unicode (a byte is a character), lengths below
// 2^30, one result at a time. OTCore's results are given as multiples of it.
//
//   cc -O3 -march=native -o floor floor.c
//   ./floor pairs:pairs-small DATA 6 [OUTPUT]
//
// Prints lines in the form of `ot-bench`. OUTPUT gets what was computed, to be checked.

#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// --- An operation: words of `length << 2 | kind`, the last one END, and all inserted text. Before
// the first word lies one more of the kind END, so that no loop asks whether there is a last one.

enum { KEEP, ADD, DROP, END };

typedef struct {
  uint32_t *words;  // words[-1] and words[count] are END.
  char *text;
  uint32_t count, bytes;
} operation;

static void *memory(size_t size) {
  void *block = malloc(size ? size : 1);
  if (!block) { fputs("floor: out of memory\n", stderr); exit(1); }
  return block;
}

static size_t block_size(uint32_t words, uint32_t bytes) { return 4 * (words + 2) + bytes; }

static operation laid_out(void *block, uint32_t words) {
  uint32_t *first = block;
  first[0] = END;
  return (operation){ first + 1, (char *)(first + words + 2), 0, 0 };
}

static operation room(uint32_t words, uint32_t bytes) {
  return laid_out(memory(block_size(words, bytes)), words);
}

static void release(operation *o) { free(o->words - 1); }

// Neighbours of one kind become one. At one place the insert goes before the deletion: the form that
// the hashes in the files are over.
static inline uint32_t *put(uint32_t *last, uint32_t kind, uint32_t length) {
  if ((*last & 3) == kind) {
    *last += length << 2;
    return last;
  }
  if (kind == ADD && (*last & 3) == DROP) {
    if ((last[-1] & 3) == ADD) {
      last[-1] += length << 2;
      return last;
    }
    last[1] = last[0];
    last[0] = length << 2 | ADD;
    return last + 1;
  }
  last[1] = length << 2 | kind;
  return last + 1;
}

// Where the order does not matter, or cannot differ.
static inline uint32_t *push(uint32_t *last, uint32_t kind, uint32_t length) {
  if ((*last & 3) == kind) {
    *last += length << 2;
    return last;
  }
  last[1] = length << 2 | kind;
  return last + 1;
}

static inline char *copy(char *to, const char *from, uint32_t length) {
  if (length > 16) memcpy(to, from, length);
  else for (uint32_t i = 0; i < length; i++) to[i] = from[i];
  return to + length;
}

static inline void finish(operation *o, uint32_t *last, char *text) {
  last[1] = END;
  o->count = (uint32_t)(last + 1 - o->words);
  o->bytes = (uint32_t)(text - o->text);
}

static inline void append(operation *o, uint32_t kind, uint32_t length) {
  uint32_t *last = put(o->words + o->count - 1, kind, length);
  o->count = (uint32_t)(last + 1 - o->words);
}

static inline void append_text(operation *o, const char *text, uint32_t length) {
  append(o, ADD, length);
  copy(o->text + o->bytes, text, length);
  o->bytes += length;
}

// Both past each other; what `a` adds goes first.
static void transform(
  const operation *a, const operation *b, operation *a_after_b, operation *b_after_a
) {
  const uint32_t *next_a = a->words, *next_b = b->words;
  const char *text_a = a->text, *text_b = b->text;
  a_after_b->count = a_after_b->bytes = b_after_a->count = b_after_a->bytes = 0;
  uint32_t word_a = *next_a++, word_b = *next_b++;
  for (;;) {
    if ((word_a & 3) == ADD) {
      uint32_t length = word_a >> 2;
      append_text(a_after_b, text_a, length);
      append(b_after_a, KEEP, length);
      text_a += length;
      word_a = *next_a++;
      continue;
    }
    if ((word_b & 3) == ADD) {
      uint32_t length = word_b >> 2;
      append_text(b_after_a, text_b, length);
      append(a_after_b, KEEP, length);
      text_b += length;
      word_b = *next_b++;
      continue;
    }
    if (word_a == END) break;
    uint32_t left = word_a >> 2, right = word_b >> 2, length = left < right ? left : right;
    uint32_t kind_a = word_a & 3, kind_b = word_b & 3;
    if (kind_a == KEEP && kind_b == KEEP) {
      append(a_after_b, KEEP, length);
      append(b_after_a, KEEP, length);
    } else if (kind_b == KEEP) {
      append(a_after_b, DROP, length);
    } else if (kind_a == KEEP) {
      append(b_after_a, DROP, length);
    }
    word_a = left == length ? *next_a++ : word_a - (length << 2);
    word_b = right == length ? *next_b++ : word_b - (length << 2);
  }
  a_after_b->words[a_after_b->count] = b_after_a->words[b_after_a->count] = END;
}

// --- Files, in just the form that `ot-bench generate` writes.

static const char *folder;

static char *contents(const char *name, size_t *length) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file) { fprintf(stderr, "floor: %s cannot be read\n", path); exit(1); }
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *bytes = memory((size_t)size + 1);
  if (fread(bytes, 1, (size_t)size, file) != (size_t)size) exit(1);
  bytes[size] = 0;
  fclose(file);
  if (length) *length = (size_t)size;
  return bytes;
}

// A JSON string's bytes; `at` is behind it afterwards.
static char *string(const char **at, uint32_t *length) {
  const char *from = *at + 1, *end = from;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  char *bytes = memory((size_t)(end - from) + 17), *to = bytes;
  while (from < end) {
    if (*from != '\\') { *to++ = *from++; continue; }
    switch (from[1]) {
      case 'n': *to++ = '\n'; break;
      case 't': *to++ = '\t'; break;
      case 'r': *to++ = '\r'; break;
      case 'b': *to++ = '\b'; break;
      case 'f': *to++ = '\f'; break;
      case 'u': {
        char digits[5] = { from[2], from[3], from[4], from[5], 0 };
        *to++ = (char)strtol(digits, NULL, 16);
        from += 4;
        break;
      }
      default: *to++ = from[1];
    }
    from += 2;
  }
  *to = 0;
  *at = end + 1;
  if (length) *length = (uint32_t)(to - bytes);
  return bytes;
}

static long number(const char **at) {
  char *end;
  long value = strtol(*at, &end, 10);
  *at = end;
  return value;
}

static operation read_operation(const char **at) {
  // Every part takes two bytes or more, every inserted byte at least one.
  const char *end = *at;
  bool quoted = false;
  while (quoted || *end != ']') {
    if (quoted && *end == '\\') end++;
    else if (*end == '"') quoted = !quoted;
    end++;
  }
  uint32_t size = (uint32_t)(end - *at);
  operation o = room(size / 2 + 1, size);
  uint32_t *last = o.words - 1;
  char *text = o.text;
  ++*at;
  while (**at != ']') {
    if (**at == '"') {
      uint32_t length;
      char *bytes = string(at, &length);
      last = put(last, ADD, length);
      memcpy(text, bytes, length);
      text += length;
      free(bytes);
    } else {
      long count = number(at);
      if (count > 0) last = put(last, KEEP, (uint32_t)count);
      else last = put(last, DROP, (uint32_t)-count);
    }
    if (**at == ',') ++*at;
  }
  ++*at;
  finish(&o, last, text);
  return o;
}

static const char *field(const char *header, const char *name) {
  char key[100];
  snprintf(key, sizeof key, "\"%s\":", name);
  const char *at = strstr(header, key);
  if (!at) { fprintf(stderr, "floor: no %s in the header\n", name); exit(1); }
  return at + strlen(key);
}

static size_t count_field(const char *header, const char *name) {
  const char *at = field(header, name);
  return (size_t)number(&at);
}

static char *text_field(const char *header, const char *name, uint32_t *length) {
  const char *at = field(header, name);
  return string(&at, length);
}

static const char *line_after(const char *at) { return strchr(at, '\n') + 1; }

// --- Measuring.

static const char *workload;
static double seconds_each = 6;
static FILE *output;

static double processor_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

#define keep_in_memory() __asm__ volatile("" ::: "memory")

static void measure(const char *unit, size_t count, const char *extra, void (*body)(void)) {
  static double times[400];
  int runs = 0;
  double begin = processor_seconds();
  do {
    double start = processor_seconds();
    body();
    double end = processor_seconds();
    times[runs++] = end - start;
    if (runs >= 3 && end - begin > seconds_each) break;
  } while (runs < 400);
  qsort(times, (size_t)runs, sizeof *times, by_size);
  printf(
    "{\"peer\":\"floor\",\"workload\":\"%s\",\"unit\":\"%s\",\"n\":%zu,\"reps\":%d,"
    "\"med_s\":%g,\"min_s\":%g,\"ns\":%g%s}\n",
    workload, unit, count, runs, times[runs / 2], times[0], times[runs / 2] * 1e9 / (double)count,
    extra);
  fflush(stdout);
}

// --- Pairs, and applying once.

static size_t count;
static operation *left_ones, *right_ones;
static char *document;
static size_t document_length;

static void transform_pairs(void) {
  for (size_t i = 0; i < count; i++) {
    operation *a = &left_ones[i], *b = &right_ones[i];
    // Each part can be cut by each of the other's.
    uint32_t words = 2 * (a->count + b->count);
    operation x = room(words, a->bytes), y = room(words, b->bytes);
    transform(a, b, &x, &y);
    keep_in_memory();
    release(&x);
    release(&y);
  }
}

static char *applied(const operation *o, const char *text, size_t length, size_t *new_length) {
  char *result = memory(length + o->bytes + 17), *to = result;
  const char *added = o->text;
  for (const uint32_t *word = o->words; *word != END; word++) {
    uint32_t size = *word >> 2;
    switch (*word & 3) {
      case KEEP: memcpy(to, text, size); to += size; text += size; break;
      case ADD: memcpy(to, added, size); to += size; added += size; break;
      default: text += size;
    }
  }
  *new_length = (size_t)(to - result);
  return result;
}

static void apply_once(void) {
  for (size_t i = 0; i < count; i++) {
    size_t length;
    char *text = applied(&left_ones[i], document, document_length, &length);
    keep_in_memory();
    free(text);
  }
}

static void write_quoted(const char *text, uint32_t length) {
  fputc('"', output);
  for (uint32_t i = 0; i < length; i++) {
    if (text[i] == '\n') fputs("\\n", output);
    else {
      if (text[i] == '"' || text[i] == '\\') fputc('\\', output);
      fputc(text[i], output);
    }
  }
  fputc('"', output);
}

static void write_operation(const operation *o) {
  const char *text = o->text;
  fputc('[', output);
  for (const uint32_t *word = o->words; *word != END; word++) {
    if (word > o->words) fputc(',', output);
    if ((*word & 3) == ADD) {
      write_quoted(text, *word >> 2);
      text += *word >> 2;
    } else {
      fprintf(output, (*word & 3) == DROP ? "-%u" : "%u", *word >> 2);
    }
  }
  fputc(']', output);
}

// --- The JSON form, read and written.

typedef struct { const char *start; uint32_t length; } form;
static form *forms;
static char *written, *written_end;

// Every part takes two bytes or more, every inserted byte at least one.
static operation decoded(const form *f) {
  operation o = room(f->length / 2 + 1, f->length);
  uint32_t *last = o.words - 1;
  char *text = o.text;
  const char *at = f->start + 1;
  while (*at != ']') {
    if (*at == '"') {
      char *from = text;
      for (at++; *at != '"'; at++) {
        if (*at != '\\') { *text++ = *at; continue; }
        at++;
        *text++ = *at == 'n' ? '\n' : *at;
      }
      at++;
      last = push(last, ADD, (uint32_t)(text - from));
    } else {
      bool is_drop = *at == '-';
      uint32_t length = 0;
      for (at += is_drop; *at >= '0' && *at <= '9'; at++) length = length * 10 + (uint32_t)(*at - '0');
      last = push(last, is_drop ? DROP : KEEP, length);
    }
    if (*at == ',') at++;
  }
  finish(&o, last, text);
  return o;
}

static void decode_forms(void) {
  for (size_t i = 0; i < count; i++) {
    operation o = decoded(&forms[i]);
    keep_in_memory();
    release(&o);
  }
}

static char *encoded(const operation *o, char *to) {
  const char *text = o->text;
  *to++ = '[';
  for (const uint32_t *word = o->words; *word != END; word++) {
    if (word > o->words) *to++ = ',';
    uint32_t size = *word >> 2;
    if ((*word & 3) == ADD) {
      *to++ = '"';
      for (uint32_t i = 0; i < size; i++) {
        char byte = text[i];
        if (byte == '\n') { *to++ = '\\'; byte = 'n'; }
        else if (byte == '"' || byte == '\\') *to++ = '\\';
        *to++ = byte;
      }
      text += size;
      *to++ = '"';
    } else {
      if ((*word & 3) == DROP) *to++ = '-';
      char digits[10];
      int places = 0;
      do { digits[places++] = (char)('0' + size % 10); size /= 10; } while (size);
      while (places) *to++ = digits[--places];
    }
  }
  *to++ = ']';
  return to;
}

static void encode_forms(void) {
  written_end = written;
  for (size_t i = 0; i < count; i++) {
    written_end = encoded(&left_ones[i], written_end);
    *written_end++ = '\n';
  }
  keep_in_memory();
}

static void run_json(const char *name, bool is_encoded) {
  char file[300];
  snprintf(file, sizeof file, "%s.jsonl", name);
  const char *at = contents(file, NULL);
  size_t components = count_field(at, "components"), bytes = 0;
  bool is_pairs = strncmp(name, "pairs-", 6) == 0;
  count = is_pairs ? 2 * count_field(at, "pairs") : count_field(at, "operations");
  left_ones = memory(count * sizeof *left_ones);
  forms = memory(count * sizeof *forms);
  for (size_t i = 0; i < count; i++) {
    if (!is_pairs) at = line_after(at);
    else if (i % 2 == 0) at = line_after(at) + strlen("{\"a\":");
    else at += strlen(",\"b\":");
    const char *start = at;
    left_ones[i] = read_operation(&at);
    forms[i] = (form){ start, (uint32_t)(at - start) };
    bytes += forms[i].length + 1;
  }
  written = memory(bytes);
  measure("component", components, "", is_encoded ? encode_forms : decode_forms);
  if (!output) return;
  if (is_encoded) { fwrite(written, 1, (size_t)(written_end - written), output); return; }
  for (size_t i = 0; i < count; i++) {
    operation o = decoded(&forms[i]);
    write_operation(&o);
    fputc('\n', output);
    release(&o);
  }
}

// --- Pairs, as files have them.

static void run_pairs(const char *name, bool is_applied) {
  char file[300];
  snprintf(file, sizeof file, "%s.jsonl", name);
  const char *at = contents(file, NULL);
  count = count_field(at, "pairs");
  char extra[60];
  snprintf(extra, sizeof extra, ",\"components\":%zu", count_field(at, "components"));
  document = contents(text_field(at, "doc", NULL), &document_length);
  left_ones = memory(count * sizeof *left_ones);
  right_ones = memory(count * sizeof *right_ones);
  for (size_t i = 0; i < count; i++) {
    at = line_after(at) + strlen("{\"a\":");
    left_ones[i] = read_operation(&at);
    at += strlen(",\"b\":");
    right_ones[i] = read_operation(&at);
  }
  if (is_applied) {
    measure("apply", count, "", apply_once);
    return;
  }
  measure("pair", count, extra, transform_pairs);
  if (!output) return;
  for (size_t i = 0; i < count; i++) {
    operation *a = &left_ones[i], *b = &right_ones[i];
    uint32_t words = 2 * (a->count + b->count);
    operation x = room(words, a->bytes), y = room(words, b->bytes);
    transform(a, b, &x, &y);
    fputc('[', output);
    write_operation(&x);
    fputc(',', output);
    write_operation(&y);
    fputs("]\n", output);
    release(&x);
    release(&y);
  }
}

// --- A text with a gap where the last edit was.

typedef struct {
  uint32_t position, deleted, length;
  char *inserted;
} edit;

static edit *edits;
static char *start_text;
static uint32_t start_length;

static struct { char *bytes; size_t start, end, size; } gap;

static void gap_open(size_t size) {
  free(gap.bytes);
  gap.bytes = memory(size);
  gap.start = 0;
  gap.end = gap.size = size;
}

static inline void gap_seek(size_t place) {
  if (place < gap.start) {
    size_t moved = gap.start - place;
    memmove(gap.bytes + gap.end - moved, gap.bytes + place, moved);
    gap.start = place;
    gap.end -= moved;
  } else if (place > gap.start) {
    size_t moved = place - gap.start;
    memmove(gap.bytes + gap.start, gap.bytes + gap.end, moved);
    gap.start += moved;
    gap.end += moved;
  }
}

static inline void gap_insert(const char *text, size_t length) {
  if (gap.end - gap.start < length) {
    size_t tail = gap.size - gap.end, size = (gap.size + length) * 2;
    char *larger = memory(size);
    memcpy(larger, gap.bytes, gap.start);
    memcpy(larger + size - tail, gap.bytes + gap.end, tail);
    free(gap.bytes);
    gap.bytes = larger;
    gap.end = size - tail;
    gap.size = size;
  }
  if (length == 1) gap.bytes[gap.start] = *text;
  else memcpy(gap.bytes + gap.start, text, length);
  gap.start += length;
}

static void write_gap(void) {
  if (!output) return;
  fwrite(gap.bytes, 1, gap.start, output);
  fwrite(gap.bytes + gap.end, 1, gap.size - gap.end, output);
}

static void read_trace(const char *name) {
  char file[300];
  snprintf(file, sizeof file, "trace-%s.jsonl", name);
  const char *at = contents(file, NULL);
  count = count_field(at, "patches");
  start_text = text_field(at, "start", &start_length);
  edits = memory(count * sizeof *edits);
  for (size_t i = 0; i < count; i++) {
    at = line_after(at) + 1;
    edits[i].position = (uint32_t)number(&at);
    at++;
    edits[i].deleted = (uint32_t)number(&at);
    at++;
    edits[i].inserted = string(&at, &edits[i].length);
  }
}

static void apply_edits(void) {
  gap_open(4096);
  gap_insert(start_text, start_length);
  for (size_t i = 0; i < count; i++) {
    const edit *e = &edits[i];
    gap_seek(e->position);
    gap.end += e->deleted;
    gap_insert(e->inserted, e->length);
  }
}

// --- Composing: the result is held open at the place of the last edit, as two stacks of words and
// a text with a gap. An edit costs what lies between it and the last one.

static struct {
  uint32_t *before, *after;  // Tops; both stacks rest on an END.
  uint32_t place;            // How much the words before the split leave.
} open_at;
static uint32_t *stack_before, *stack_after;
static char *zipper;  // Inserted text: from its beginning, and from its end.
static char *text_before, *text_after;
static size_t room_for_words, room_for_text;
static operation *composed;
static size_t composed_count, chunk;

static inline void split_seek(uint32_t place) {
  while (open_at.place > place) {
    uint32_t word = *open_at.before--, kind = word & 3, length = word >> 2;
    if (kind == DROP) { open_at.after = push(open_at.after, DROP, length); continue; }
    uint32_t moved = open_at.place - place;
    if (moved < length) *++open_at.before = word - (moved << 2);
    else moved = length;
    open_at.after = push(open_at.after, kind, moved);
    open_at.place -= moved;
    if (kind == ADD) {
      text_before -= moved;
      text_after -= moved;
      memmove(text_after, text_before, moved);
    }
  }
  while (open_at.place < place) {
    uint32_t word = *open_at.after--, kind = word & 3, length = word >> 2;
    if (kind == DROP) { open_at.before = push(open_at.before, DROP, length); continue; }
    uint32_t moved = place - open_at.place;
    if (moved < length) *++open_at.after = word - (moved << 2);
    else moved = length;
    open_at.before = push(open_at.before, kind, moved);
    open_at.place += moved;
    if (kind == ADD) {
      memmove(text_before, text_after, moved);
      text_before += moved;
      text_after += moved;
    }
  }
}

static operation compose_run(const edit *run, size_t length, uint32_t base) {
  open_at.before = stack_before;
  open_at.after = stack_after;
  open_at.place = 0;
  text_before = zipper;
  text_after = zipper + room_for_text;
  if (base) open_at.after = push(open_at.after, KEEP, base);
  for (const edit *e = run; e < run + length; e++) {
    split_seek(e->position);
    if (e->length) {
      open_at.before = push(open_at.before, ADD, e->length);
      text_before = copy(text_before, e->inserted, e->length);
      open_at.place += e->length;
    }
    uint32_t deleted = e->deleted;
    while (deleted) {
      uint32_t word = *open_at.after--, kind = word & 3, size = word >> 2;
      if (kind == DROP) { open_at.before = push(open_at.before, DROP, size); continue; }
      uint32_t taken = deleted;
      if (taken < size) *++open_at.after = word - (taken << 2);
      else taken = size;
      if (kind == KEEP) open_at.before = push(open_at.before, DROP, taken);
      else text_after += taken;
      deleted -= taken;
    }
  }
  uint32_t before = (uint32_t)(text_before - zipper);
  uint32_t after = (uint32_t)(zipper + room_for_text - text_after);
  uint32_t words =
    (uint32_t)(open_at.before - stack_before) + (uint32_t)(open_at.after - stack_after);
  operation result = room(words, before + after);
  uint32_t *last = result.words - 1;
  for (uint32_t *word = stack_before + 1; word <= open_at.before; word++) {
    last = put(last, *word & 3, *word >> 2);
  }
  for (uint32_t *word = open_at.after; word > stack_after; word--) last = put(last, *word & 3, *word >> 2);
  memcpy(result.text, zipper, before);
  memcpy(result.text + before, text_after, after);
  finish(&result, last, result.text + before + after);
  return result;
}

static void compose_edits(void) {
  for (size_t i = 0; i < composed_count; i++) release(&composed[i]);
  composed_count = 0;
  uint32_t base = start_length;
  for (size_t i = 0; i < count; i += chunk) {
    size_t length = count - i < chunk ? count - i : chunk;
    composed[composed_count++] = compose_run(edits + i, length, base);
    for (size_t j = i; j < i + length; j++) base += edits[j].length - edits[j].deleted;
  }
}

static void run_compose(const char *how) {
  read_trace(strchr(how, '.') + 1);
  // Composing level by level has no least work of its own: the whole in one go is it.
  chunk = strncmp(how, "chunk", 5) == 0 ? 1000 : count;
  room_for_text = 64;
  for (size_t i = 0; i < count; i++) room_for_text += edits[i].length;
  room_for_words = 4 * count + 64;
  stack_before = memory(4 * room_for_words);
  stack_after = memory(4 * room_for_words);
  stack_before[0] = stack_after[0] = END;
  zipper = memory(room_for_text + 32);
  composed = memory((count / chunk + 1) * sizeof *composed);
  measure("edit", count, "", compose_edits);
  if (!output) return;
  char *text = start_text;
  size_t length = start_length;
  for (size_t i = 0; i < composed_count; i++) {
    text = applied(&composed[i], text, length, &length);
  }
  fwrite(text, 1, length, output);
}

// --- Rebasing: an edit of the history changes a few words of the operation, in place.

static operation *clients, scratch;
static size_t first_client, last_client;

static inline void open_words(uint32_t *at, uint32_t by, uint32_t *end) {
  memmove(at + by, at, (size_t)(end - at) * 4);
}

static void rebase_one(const operation *client) {
  uint32_t *words = scratch.words, *end = words + client->count + 1;
  memcpy(words, client->words, 4 * ((size_t)client->count + 1));
  for (const edit *e = edits; e < edits + count; e++) {
    uint32_t *word = words, ahead = e->position;
    // The history's insert goes before the operation's. END keeps no length: an operation on an
    // empty rest ends there.
    for (;; word++) {
      uint32_t kind = *word & 3;
      if (kind == ADD) {
        if (ahead == 0) break;
        continue;
      }
      if (kind == END || ahead < *word >> 2) break;
      ahead -= *word >> 2;
    }
    uint32_t added = e->length;
    if (added) {
      if (ahead) {
        if ((*word & 3) == KEEP) {
          *word += added << 2;
          ahead += added;
        } else {
          open_words(word, 2, end);
          end += 2;
          word[0] = ahead << 2 | DROP;
          word[1] = added << 2 | KEEP;
          word += 2;
          *word -= ahead << 2;
          ahead = 0;
        }
      } else if ((word[-1] & 3) == KEEP) {
        word[-1] += added << 2;
      } else if ((*word & 3) == KEEP) {
        *word += added << 2;
        ahead = added;
      } else {
        open_words(word, 1, end);
        end++;
        *word++ = added << 2 | KEEP;
      }
    }
    uint32_t deleted = e->deleted;
    while (deleted) {
      if ((*word & 3) == ADD) { word++; continue; }
      uint32_t rest = (*word >> 2) - ahead, taken = deleted < rest ? deleted : rest;
      *word -= taken << 2;
      deleted -= taken;
      if (deleted) { word++; ahead = 0; }
    }
  }
  keep_in_memory();
}

static void rebase_clients(void) {
  for (size_t i = first_client; i < last_client; i++) rebase_one(&clients[i]);
}

// One edit at one place, as the history's operations are.
static edit edit_of(const operation *o) {
  edit e = { 0, 0, 0, o->text };
  const uint32_t *word = o->words;
  if ((*word & 3) == KEEP && (word[1] & 3) != END) e.position = *word++ >> 2;
  if ((*word & 3) == ADD) e.length = *word++ >> 2;
  if ((*word & 3) == DROP) e.deleted = *word >> 2;
  return e;
}

static const char *read_history(const char *file, const char *counted) {
  const char *header = contents(file, NULL), *at = header;
  count = count_field(at, counted);
  document = contents(text_field(at, "doc", NULL), &document_length);
  left_ones = memory(count * sizeof *left_ones);
  edits = memory(count * sizeof *edits);
  for (size_t i = 0; i < count; i++) {
    at = line_after(at);
    left_ones[i] = read_operation(&at);
    edits[i] = edit_of(&left_ones[i]);
  }
  return header;
}

static void run_rebase(const char *size) {
  char file[300];
  snprintf(file, sizeof file, "rebase-%s.jsonl", size);
  const char *at = field(read_history(file, "history"), "clients") + 1;
  clients = memory(22 * sizeof *clients);
  uint32_t words = 64;
  for (size_t i = 0; i < 22; i++, at++) {
    clients[i] = read_operation(&at);
    if (clients[i].count > words) words = clients[i].count;
  }
  scratch = room(words + 2 * (uint32_t)count, 0);
  static const struct { const char *name; size_t first, last; } groups[] = {
    { "one", 0, 10 }, { "three", 10, 20 }, { "fifty", 20, 22 },
  };
  for (size_t i = 0; i < 3; i++) {
    char extra[60];
    snprintf(extra, sizeof extra, ",\"group\":\"%s\"", groups[i].name);
    first_client = groups[i].first;
    last_client = groups[i].last;
    measure("transform", count * (last_client - first_client), extra, rebase_clients);
  }
  if (!output) return;
  char *text = document;
  size_t length = document_length;
  for (size_t i = 0; i < count; i++) {
    char *next = applied(&left_ones[i], text, length, &length);
    if (text != document) free(text);
    text = next;
  }
  for (size_t i = 0; i < 22; i++) {
    rebase_one(&clients[i]);
    operation last = { scratch.words, clients[i].text, 0, clients[i].bytes };
    size_t size;
    char *result = applied(&last, text, length, &size);
    fprintf(output, "%zu\n", size);
    fwrite(result, 1, size, output);
    free(result);
  }
}

// --- Cursors, all at a time for one edit.

enum { CURSORS = 100, LANES = 112 };
static uint32_t cursors_at_first[LANES], cursors[LANES];

static void move_cursors(void) {
  memcpy(cursors, cursors_at_first, sizeof cursors);
  for (const edit *e = edits; e < edits + count; e++) {
    uint32_t start = e->position, end = start + e->deleted;
    uint32_t within = start + e->length, growth = e->length - e->deleted;
    for (int i = 0; i < LANES; i++) {
      uint32_t cursor = cursors[i];
      cursors[i] = cursor < start ? cursor : cursor < end ? within : cursor + growth;
    }
    keep_in_memory();
  }
}

static void run_cursors(void) {
  const char *at = field(read_history("cursors.jsonl", "ops"), "cursors") + 1;
  for (int i = 0; i < CURSORS; i++, at++) cursors_at_first[i] = (uint32_t)number(&at);
  measure("cursor-op", count * CURSORS, "", move_cursors);
  if (output) for (int i = 0; i < CURSORS; i++) fprintf(output, "%u\n", cursors[i]);
}

// --- A session: for each client a queue of what it has not seen, each operation a block of its own.

enum { CLIENTS = 16 };
static size_t client_count;
static struct { uint32_t author, seen; } *arrivals;
static operation passing[2];

static void serve_session(void) {
  operation *queues[CLIENTS];
  size_t ends[CLIENTS] = { 0 }, starts[CLIENTS] = { 0 };
  for (size_t c = 0; c < client_count; c++) queues[c] = memory(count * sizeof **queues);
  gap_open(1 << 16);
  for (size_t i = 0; i < count; i++) {
    uint32_t author = arrivals[i].author;
    operation *queue = queues[author];
    for (size_t j = starts[author]; j < arrivals[i].seen; j++) release(&queue[j]);
    starts[author] = arrivals[i].seen;
    const operation *current = &left_ones[i];
    for (size_t j = starts[author]; j < ends[author]; j++) {
      operation moved = room(2 * (current->count + queue[j].count), queue[j].bytes);
      operation *next = &passing[current == &passing[0]];
      transform(current, &queue[j], next, &moved);
      release(&queue[j]);
      queue[j] = moved;
      current = next;
    }
    size_t place = 0;
    const char *text = current->text;
    for (const uint32_t *word = current->words; *word != END; word++) {
      uint32_t length = *word >> 2;
      switch (*word & 3) {
        case KEEP: place += length; break;
        case ADD:
          gap_seek(place);
          gap_insert(text, length);
          text += length;
          place += length;
          break;
        default: gap_seek(place); gap.end += length;
      }
    }
    for (size_t c = 0; c < client_count; c++) {
      if (c == author) continue;
      operation copied = room(current->count, current->bytes);
      memcpy(copied.words, current->words, 4 * ((size_t)current->count + 1));
      memcpy(copied.text, current->text, current->bytes);
      copied.count = current->count;
      copied.bytes = current->bytes;
      queues[c][ends[c]++] = copied;
    }
  }
  for (size_t c = 0; c < client_count; c++) {
    for (size_t j = starts[c]; j < ends[c]; j++) release(&queues[c][j]);
    free(queues[c]);
  }
}

static void run_session(const char *name) {
  char file[300];
  snprintf(file, sizeof file, "session-%s.jsonl", name);
  const char *at = contents(file, NULL);
  count = count_field(at, "ops");
  client_count = count_field(at, "clients");
  if (client_count > CLIENTS) { fputs("floor: too many clients\n", stderr); exit(1); }
  char extra[60];
  snprintf(extra, sizeof extra, ",\"transforms\":%zu", count_field(at, "transforms"));
  arrivals = memory(count * sizeof *arrivals);
  left_ones = memory(count * sizeof *left_ones);
  size_t words = 64, bytes = 64;
  for (size_t i = 0; i < count; i++) {
    at = line_after(at) + 1;
    arrivals[i].author = (uint32_t)number(&at);
    at++;
    arrivals[i].seen = (uint32_t)number(&at);
    at++;
    left_ones[i] = read_operation(&at);
    words += left_ones[i].count;
    bytes += left_ones[i].bytes;
  }
  passing[0] = room((uint32_t)words * 2, (uint32_t)bytes);
  passing[1] = room((uint32_t)words * 2, (uint32_t)bytes);
  measure("op", count, extra, serve_session);
  write_gap();
}

int main(int argument_count, char **arguments) {
  if (argument_count < 3) {
    fputs("Usage: floor WORKLOAD DATA [SECONDS] [OUTPUT]\n", stderr);
    return 2;
  }
  workload = arguments[1];
  folder = arguments[2];
  if (argument_count > 3) seconds_each = atof(arguments[3]);
  if (argument_count > 4 && !(output = fopen(arguments[4], "wb"))) return 1;
  const char *colon = strchr(workload, ':');
  const char *rest = colon ? colon + 1 : "";
  size_t length = colon ? (size_t)(colon - workload) : strlen(workload);
#define is(word) (length == strlen(word) && strncmp(workload, word, length) == 0)
  if (is("pairs")) run_pairs(rest, false);
  else if (is("apply1")) run_pairs(rest, true);
  else if (is("apply")) { read_trace(rest); measure("edit", count, "", apply_edits); write_gap(); }
  else if (is("decode")) run_json(rest, false);
  else if (is("encode")) run_json(rest, true);
  else if (is("compose")) run_compose(rest);
  else if (is("rebase")) run_rebase(rest);
  else if (is("session")) run_session(rest);
  else if (is("cursors")) run_cursors();
  else { fprintf(stderr, "floor: %s is no workload\n", workload); return 2; }
  return output && fclose(output) != 0;
}
