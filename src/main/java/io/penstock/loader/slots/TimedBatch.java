// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.device.DeviceEvent;
import io.penstock.device.EventWait;
import io.penstock.internal.Opened;

/**
 * The timed events of one batch. Three of them are the events of the transfer protocol, so timing a batch costs two
 * more: where its copy begins, and where the trainer's stream was ready for it.
 */
final class TimedBatch {

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

    TimedBatch(Device device, Opened opened) {
        begin = open(device, EventWait.SPIN, opened);
        copied = open(device, EventWait.BLOCK, opened);
        ready = open(device, EventWait.BLOCK, opened);
        asked = open(device, EventWait.SPIN, opened);
        used = open(device, EventWait.SPIN, opened);
    }

    private static DeviceEvent open(Device device, EventWait wait, Opened opened) {
        return opened.add(device.openTimedEvent(wait), DeviceEvent::close);
    }

    void begin(long ofSequence) {
        sequence = ofSequence;
        wasAsked = false;
    }

    /** Exchanges an event that a stream recorded when it asked for a batch, which turned out to be this one. */
    DeviceEvent askedBy(DeviceEvent recorded) {
        DeviceEvent own = asked;
        asked = recorded;
        wasAsked = true;
        return own;
    }
}
