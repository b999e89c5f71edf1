// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.TokenWindows;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.testing.MemoryTokenStore;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Collections of this JVM. A report of one comes when it comes, so they are looked for until it has. */
@Timeout(1200)
class GcPausesTest {

    private static final long MILLI = 1_000_000;

    @Test
    void aCollectionIsAPauseBetweenItsCallAndItsReport() {
        try (var pauses = new GcPauses()) {
            long begin = System.nanoTime();
            System.gc();
            List<Recording.Stretch> found = pauses.since(begin - MILLI);
            while (found.isEmpty()) {
                found = pauses.since(begin - MILLI);
            }
            long end = System.nanoTime();
            long before = Long.MIN_VALUE;
            for (Recording.Stretch pause : found) {
                assertTrue(before <= pause.beginAt() && pause.beginAt() <= pause.endAt(), found.toString());
                before = pause.endAt();
            }
            assertTrue(found.getLast().endAt() <= end + MILLI, "milliseconds are cut off, no more");
        }
    }

    @Test
    void theyAreInWhatIsRecordedOfALoader() {
        try (var store = new MemoryTokenStore(DType.U16, 1_000);
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 32)).workers(0).open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            assertEquals(List.of(), diagnosis.recording().pauses(), "without a batch there is nothing to explain");
            loader.next().close();
            System.gc();
            loader.next().close();
            Recording recording = diagnosis.recording();
            while (recording.pauses().isEmpty()) {
                recording = diagnosis.recording();
            }
            assertEquals(2, recording.accounts().size());
        }
    }

    @Test
    void eachStepThatIsKeptMayHaveItsPauses() {
        try (var pauses = new GcPauses()) {
            int several = 3 * StepLog.STEPS;
            for (int i = 0; i < several; i++) {
                pauses.add(new Recording.Stretch(10L * i, 10L * i + 2), 10L * i * MILLI);
            }
            assertTrue(pauses.since(Long.MIN_VALUE).size() >= several, "of " + several);
        }
    }
}
