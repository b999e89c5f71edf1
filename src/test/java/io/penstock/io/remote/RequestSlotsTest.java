// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.remote.RequestSlots.Slot;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class RequestSlotsTest {

    /** Takes all slots that there are, then ends all. */
    private static int round(RequestSlots slots, Consumer<Slot> outcome) throws InterruptedException {
        List<Slot> taken = new ArrayList<>();
        while (slots.hasFree()) {
            taken.add(slots.acquire());
        }
        for (Slot slot : taken) {
            outcome.accept(slot);
            slot.close();
        }
        return taken.size();
    }

    @Test
    void requestsAreFewAtFirstAndTwiceAsManyInEachRound() throws InterruptedException {
        RequestSlots slots = new RequestSlots(30);
        assertEquals(4, round(slots, Slot::succeeded));
        assertEquals(8, round(slots, Slot::succeeded));
        assertEquals(16, round(slots, Slot::succeeded));
        assertEquals(30, round(slots, Slot::succeeded));
        assertEquals(30, round(slots, Slot::succeeded));
    }

    @Test
    void theRefusalsOfOneRoundHalveTheNumberOnceAndItGrowsSlowlyFromThere() throws InterruptedException {
        RequestSlots slots = new RequestSlots(32);
        while (slots.allowed() < 32) {
            round(slots, Slot::succeeded);
        }
        assertEquals(32, round(slots, Slot::refused));
        assertEquals(16, round(slots, Slot::succeeded));
        int next = round(slots, Slot::succeeded);
        assertTrue(next == 16 || next == 17, next + " requests");
        assertTrue(round(slots, Slot::succeeded) <= 19);
    }

    @Test
    void oneRequestIsAlwaysAllowed() throws InterruptedException {
        RequestSlots slots = new RequestSlots(2);
        for (int i = 0; i < 10; i++) {
            round(slots, Slot::refused);
        }
        assertEquals(1, slots.allowed());
        try (Slot _ = slots.acquire()) {
            assertFalse(slots.hasFree());
        }
        assertTrue(slots.hasFree());
    }

    @Test
    void whatFailsForAnotherReasonChangesNothing() throws InterruptedException {
        RequestSlots slots = new RequestSlots(16);
        for (int i = 0; i < 10; i++) {
            assertEquals(4, round(slots, _ -> { }));
        }
    }
}
