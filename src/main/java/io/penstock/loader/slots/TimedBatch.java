// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceStream;
import io.penstock.internal.Opened;
import io.penstock.telemetry.Phase;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The timed events of one batch. Three of them are the events of the transfer protocol, so timing a batch costs two
 * more: where its copy begins, and where the trainer's stream was ready for it. Phases that the trainer marks cost one
 * more each:
 *
 * <pre>
 *   trainer's stream   ── asked ── ready ── mark: forward ── mark: backward ── … ── used ──
 * </pre>
 *
 * <p>A mark must be ordered before {@code used}: behind that nobody waits for it. So marks, and the close that ends
 * them, exclude each other, whichever threads they come from.
 */
final class TimedBatch {

    private static final int MOST_MARKS = 8;

    final DeviceEvent begin;
    /** E_host. */
    final DeviceEvent copied;
    /** E_ready. */
    final DeviceEvent ready;
    /** Recorded by the trainer's stream when its thread asked for the batch. */
    DeviceEvent asked;
    /** E_used of the stream that asked. */
    final DeviceEvent used;
    long sequence;
    /** Whether a stream asked for the batch. Written by the trainer's thread; handed over with the slot. */
    boolean wasAsked;
    private final DeviceEvent[] marks = new DeviceEvent[MOST_MARKS];
    /** What begins at each mark; null for nothing. */
    private final @Nullable Phase[] phases = new Phase[MOST_MARKS];
    /** More than there are events if the trainer marked more often. */
    private int markCount;
    /** The stream that asked, until the batch is closed. */
    private @Nullable DeviceStream user;

    TimedBatch(Device device, Opened opened) {
        begin = open(device, EventWait.SPIN, opened);
        copied = open(device, EventWait.BLOCK, opened);
        ready = open(device, EventWait.BLOCK, opened);
        asked = open(device, EventWait.SPIN, opened);
        used = open(device, EventWait.SPIN, opened);
        Arrays.setAll(marks, _ -> open(device, EventWait.SPIN, opened));
    }

    private static DeviceEvent open(Device device, EventWait wait, Opened opened) {
        return opened.add(device.openTimedEvent(wait), DeviceEvent::close);
    }

    synchronized void begin(long ofSequence) {
        sequence = ofSequence;
        wasAsked = false;
        markCount = 0;
    }

    /** Exchanges an event that a stream recorded when it asked for a batch, which turned out to be this one. */
    synchronized DeviceEvent askedBy(DeviceStream stream, DeviceEvent recorded) {
        DeviceEvent own = asked;
        asked = recorded;
        wasAsked = true;
        user = stream;
        return own;
    }

    /** Marks where a phase begins, or where the last one ends, unless the batch is another or closed. */
    synchronized void mark(long ofSequence, @Nullable Phase phase) {
        if (user == null || sequence != ofSequence) {
            return;
        }
        if (markCount < MOST_MARKS) {
            user.record(marks[markCount]);
            phases[markCount] = phase;
        }
        markCount = Math.min(markCount + 1, MOST_MARKS + 1);
    }

    /** The batch is about to be closed: nothing is marked any more. */
    synchronized void endMarks() {
        user = null;
    }

    /** Adds up how long each phase took, by its ordinal; false if none was marked, or there were too many marks. */
    boolean readPhases(long[] nanos) {
        Arrays.fill(nanos, 0);
        boolean isMarked = false;
        for (int i = 0; i < markCount && markCount <= MOST_MARKS; i++) {
            Phase phase = phases[i];
            if (phase != null) {
                DeviceEvent end = i + 1 < markCount ? marks[i + 1] : used;
                nanos[phase.ordinal()] += end.nanosSince(marks[i]);
                isMarked = true;
            }
        }
        return isMarked;
    }
}
