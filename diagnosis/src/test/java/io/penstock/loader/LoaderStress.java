// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.Device;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.diagnose.Diagnosis;
import io.penstock.internal.Opened;
import io.penstock.memory.DType;
import io.penstock.telemetry.Phase;
import io.penstock.transform.CastTransform;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Loaders of drawn settings on a GPU, whose batches are taken with and without streams, held, timed, read on two
 * streams and dropped by moves, as it is drawn. Every byte that was read is compared.
 */
final class LoaderStress implements AutoCloseable {

    private static final DeviceStage WIDEN = CastTransform.stage("row", DType.I32);
    private static final int[] WIDTHS = {1, 255, 4096, 20_001};
    private static final int MOST_ROWS = 8;
    private static final int RESULTS = 6;
    /** What was copied, and behind it what was widened. */
    private static final long RESULT_BYTES = 8L * MOST_ROWS * 20_001;

    private final SplittableRandom random;
    private final Device device;
    private final DeviceStream first;
    private final DeviceStream second;
    private final List<PinnedBuffer> results = new ArrayList<>();
    private final List<Look> looks = new ArrayList<>();
    private final Opened opened = new Opened();

    /** What a stream has been told to copy from a batch, and the samples that it must be. */
    private record Look(PinnedBuffer result, long offset, long[] samples) {
    }

    LoaderStress(Device device, SplittableRandom random) {
        this.device = device;
        this.random = random;
        this.first = opened.add(device.openStream("first"), DeviceStream::close);
        this.second = opened.add(device.openStream("second"), DeviceStream::close);
        for (int i = 0; i < RESULTS; i++) {
            results.add(opened.add(device.allocatePinned(RESULT_BYTES), PinnedBuffer::close));
        }
    }

    /** Opens a loader, takes some batches and closes it; returns how many it took, at most so many. */
    int run(int most) {
        int width = WIDTHS[random.nextInt(WIDTHS.length)];
        boolean isWidened = random.nextInt(3) == 0;
        int slots = 2 + random.nextInt(4);
        DataLoaderBuilder settings = DataLoader.builder(new ByteRows(20 + random.nextInt(100), width))
                .batchSize(1 + random.nextInt(MOST_ROWS)).shuffle(random.nextInt(1000)).workers(random.nextInt(4))
                .prefetch(1 + random.nextInt(4)).deviceSlots(slots)
                .leases(LeaseMode.values()[random.nextInt(LeaseMode.values().length)]).device(device);
        if (isWidened) {
            settings.onDevice(WIDEN);
        }
        if (random.nextBoolean()) {
            settings.withDeviceClock();
        }
        int batches = Math.min(most, 20 + random.nextInt(180));
        try (DataLoader loader = settings.open(); Diagnosis diagnosis = Diagnosis.of(loader)) {
            Deque<Batch> held = new ArrayDeque<>();
            for (int i = 0; i < batches; i++) {
                if (random.nextInt(40) == 0) {
                    loader.seek(random.nextInt(5));
                }
                held.add(take(loader, diagnosis));
                while (held.size() > random.nextInt(slots - 1)) {
                    held.remove().close();
                }
                if (looks.size() == RESULTS) {
                    verify(width, isWidened);
                }
            }
            held.forEach(Batch::close);
            verify(width, isWidened);
        }
        return batches;
    }

    private Batch take(DataLoader loader, Diagnosis diagnosis) {
        Batch batch = switch (random.nextInt(3)) {
            case 0 -> loader.next();
            case 1 -> loader.next(first);
            default -> loader.next(device.stream(second.handle()));
        };
        diagnosis.begin(Phase.COMPUTE);
        PinnedBuffer result = results.get(looks.size());
        batch.copyToHost(random.nextBoolean() ? first : second, result);
        diagnosis.end();
        long[] samples = new long[batch.count()];
        for (int row = 0; row < samples.length; row++) {
            samples[row] = batch.sample(row);
        }
        looks.add(new Look(result, batch.offset("row"), samples));
        return batch;
    }

    private void verify(int width, boolean isWidened) {
        first.synchronize();
        second.synchronize();
        for (Look look : looks) {
            MemorySegment bytes = look.result.segment();
            for (int row = 0; row < look.samples.length; row++) {
                for (int i = 0; i < width; i++) {
                    long at = (long) row * width + i;
                    byte expected = ByteRows.at(look.samples[row], i);
                    int found = isWidened ? bytes.get(ValueLayout.JAVA_INT, look.offset + at * Integer.BYTES)
                            : bytes.get(ValueLayout.JAVA_BYTE, look.offset + at);
                    if (found != (isWidened ? expected & 0xFF : expected)) {
                        assertEquals(expected, found, "byte " + i + " of sample " + look.samples[row]);
                    }
                }
            }
        }
        looks.clear();
    }

    @Override
    public void close() {
        opened.close();
    }
}
