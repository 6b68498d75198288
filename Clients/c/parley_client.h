/* Parley's client core: connecting, resuming, notes and rooms as one state machine without I/O.
 *
 * Bytes that say what has happened go in, bytes that say what is to be done come out: Web/core/Door.swift has
 * their form, and Clients/python/parley/core.py reads and writes it in 200 lines. The machine reads no clock and
 * opens no socket; its caller does what it asks for, in order.
 *
 * A core belongs to one thread at a time. Two cores have nothing in common, so each may be on a thread of its own.
 */

#ifndef PARLEY_CLIENT_H
#define PARLEY_CLIENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What parley_client_version returns for the functions and forms of this header. */
enum { PARLEY_CLIENT_VERSION = 2 };

typedef struct parley_client parley_client;

int32_t parley_client_version(void);

/* A core, until it is freed. */
parley_client *parley_client_new(void);
void parley_client_free(parley_client *client);

/* What the last call has written; valid until the next call with this core. */
const uint8_t *parley_client_output(parley_client *client, int32_t *count);

/* Each takes bytes, which it has read when it returns. The result is negative where they cannot be read or do not
 * fit; nothing has happened then.
 */

/* Makes a new machine: name, colour, seed, whether there is a claim, its id and its resume token. */
int32_t parley_client_create(parley_client *client, const uint8_t *bytes, int32_t count);

/* Takes an event at a time, in milliseconds of a clock that is never set back and below 2^53. Returns how many
 * actions it has written.
 */
int32_t parley_client_handle(parley_client *client, const uint8_t *bytes, int32_t count, double now);

/* Each takes the id of a note or the name of a room. */
int32_t parley_note_text(parley_client *client, const uint8_t *bytes, int32_t count);
int32_t parley_note_format(parley_client *client, const uint8_t *bytes, int32_t count);
int32_t parley_note_flags(parley_client *client, const uint8_t *bytes, int32_t count);
double parley_note_revision(parley_client *client, const uint8_t *bytes, int32_t count);
int32_t parley_note_people(parley_client *client, const uint8_t *bytes, int32_t count);
int32_t parley_room_people(parley_client *client, const uint8_t *bytes, int32_t count);
int32_t parley_kept_text(parley_client *client, const uint8_t *bytes, int32_t count);
int32_t parley_note_copy(parley_client *client, const uint8_t *bytes, int32_t count);

#ifdef __cplusplus
}
#endif

#endif
