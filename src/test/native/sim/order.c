// SPDX-License-Identifier: Apache-2.0
/*
 * Which work happens before which, by vector clocks. Each piece of work has a number in its stream. A stream's clock
 * says, for every stream, up to which number work has ended when the stream's next work starts. It grows by its own
 * work, by waits for events, whose clock is that of their stream at the record, and by what the host has seen end
 * before it enqueues. So a missing wait is seen at the call, whether or not the race is lost this time.
 *
 * The host counts as one: what one thread has seen end, all know. Threads of the host are ordered by its own means.
 * All with the lock.
 */
#include "sim.h"

#include <stdlib.h>

uint64_t sim_enqueued[MAX_STREAMS], sim_done[MAX_STREAMS];
sim_clock sim_host;

void sim_join(sim_clock *into, const sim_clock *from) {
    for (int i = 0; i < MAX_STREAMS; i++) {
        if (into->upto[i] < from->upto[i]) into->upto[i] = from->upto[i];
    }
}

uint64_t sim_next_number(sim_resource *stream) {
    sim_join(&stream->clock, &sim_host);
    return stream->clock.upto[stream->place] = ++sim_enqueued[stream->place];
}

static int before(const sim_access *access, const sim_clock *clock) {
    return access->number <= clock->upto[access->stream];
}

/* Drops what no future work can conflict with, or only if it conflicts with the new access as well. */
static void forget(sim_resource *memory, size_t begin, size_t end, int writes, const sim_clock *clock) {
    for (sim_access **at = &memory->accesses; *at; ) {
        sim_access *access = *at;
        int replaced = access->begin >= begin && access->end <= end && before(access, clock)
                && (writes || !access->writes);
        if (replaced || before(access, &sim_host)) {
            *at = access->next;
            free(access);
        } else {
            at = &access->next;
        }
    }
}

void sim_use(sim_resource *memory, const char *address, size_t size, int writes, sim_resource *stream,
        uint64_t number) {
    size_t begin = address - memory->address, end = begin + size;
    for (sim_access *access = memory->accesses; access; access = access->next) {
        if (access->begin < end && access->end > begin && (writes || access->writes)
                && !before(access, &stream->clock)) {
            sim_violation("%s memory at %p+%zu, %zu bytes: %s by stream %d is not ordered behind its %s by stream %d",
                    memory->kind == DEVICE_MEMORY ? "device" : "pinned", (void *) memory->address, begin, size,
                    writes ? "written" : "read", stream->place, access->writes ? "writing" : "reading",
                    access->stream);
        }
    }
    forget(memory, begin, end, writes, &stream->clock);
    sim_access *added = malloc(sizeof *added);
    *added = (sim_access) {begin, end, writes, stream->place, number, memory->accesses};
    memory->accesses = added;
}

/* Whether work uses the memory that the host has not seen end. */
int sim_in_use(sim_resource *memory) {
    for (sim_access *access = memory->accesses; access; access = access->next) {
        if (!before(access, &sim_host)) return 1;
    }
    return 0;
}

/* Whether the host has seen what an event marks. */
int sim_seen(const sim_resource *event) { return event->number <= sim_host.upto[event->place]; }

/* The host itself is about to use pinned memory. */
void sim_host_use(const char *address, size_t size, int writes) {
    sim_resource *memory = sim_memory(PINNED_MEMORY, address, size);
    if (!memory) {
        sim_violation("the host uses %zu bytes at %p, which is not pinned memory", size, (const void *) address);
        return;
    }
    size_t begin = address - memory->address, end = begin + size;
    for (sim_access *access = memory->accesses; access; access = access->next) {
        if (access->begin < end && access->end > begin && (writes || access->writes) && !before(access, &sim_host)) {
            sim_violation("pinned memory at %p, %zu bytes: %s by the host, which has not seen the end of %s by "
                    "stream %d", (const void *) address, size, writes ? "written" : "read",
                    access->writes ? "writing" : "reading", access->stream);
        }
    }
}
