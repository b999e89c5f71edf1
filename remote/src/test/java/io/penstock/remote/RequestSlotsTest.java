// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.remote.RequestSlots.Slot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class RequestSlotsTest {

    /** Takes all slots that there are, then ends all. */
    private static int round(RequestSlots slots, Consumer<Slot> outcome) throws InterruptedException {
        List<Slot> taken = new ArrayList<>();
        while (slots.hasFree()) {
            taken.add(slots.acquire(false));
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
    void aRefusalNowAndThenChangesNothing() throws InterruptedException {
        RequestSlots slots = new RequestSlots(16);
        for (int i = 0; i < 10_000; i++) {
            try (Slot slot = slots.acquire(false)) {
                if (i % 50 == 49) {
                    slot.refused();
                } else {
                    slot.succeeded();
                }
            }
        }
        assertEquals(16, slots.allowed());
        for (int i = 0; i < 100; i++) {
            try (Slot slot = slots.acquire(false)) {
                if (i % 5 == 0) {
                    slot.refused();
                } else {
                    slot.succeeded();
                }
            }
        }
        assertTrue(slots.allowed() < 8, slots.allowed() + " requests");
    }

    @Test
    void urgentRequestsGoFirstAndWhoGivesUpPassesItsTurnOn() throws Exception {
        RequestSlots slots = new RequestSlots(1);
        Slot first = slots.acquire(false);
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (String name : List.of("one", "given up", "two", "urgent")) {
            threads.add(Thread.startVirtualThread(() -> {
                try (Slot _ = slots.acquire(name.equals("urgent"))) {
                    order.add(name);
                } catch (InterruptedException _) {
                    order.add("interrupted");
                }
            }));
            while (threads.getLast().getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        threads.get(1).interrupt();
        threads.get(1).join();
        first.close();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of("interrupted", "urgent", "one", "two"), order);
        assertTrue(slots.hasFree());
    }

    @Test
    void oneRequestIsAlwaysAllowed() throws InterruptedException {
        RequestSlots slots = new RequestSlots(2);
        for (int i = 0; i < 10; i++) {
            round(slots, Slot::refused);
        }
        assertEquals(1, slots.allowed());
        try (Slot _ = slots.acquire(false)) {
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
