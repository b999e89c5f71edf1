// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.media.SoundDecoder;
import io.penstock.media.sound.FixedLength;
import io.penstock.media.sound.LogMel;
import io.penstock.media.sound.SoundSteps;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Files of speech to Whisper's log-mel of 5 seconds, in batches of 16: samples a second. Prints a JSON line; {@code
 * bench/peers/speech.py} calls it beside C, torch and PyTorch's DataLoader.
 *
 * <pre>
 *   --store FOLDER      flac files
 *   --workers N         0: in the caller's thread, by its CPU time; else by the clock
 *   --cpu 1             by the CPU time of the whole process, for machines that other work shares
 *   --isolated 1        decode in processes of their own
 *   --result FILE       write the spectrogram of the first file instead
 *   --seconds S --warmup S
 * </pre>
 */
public final class SpeechRates {

    private static final int LENGTH = 80_000;

    private SpeechRates() {
    }

    /** Takes the options above. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = LoaderThroughput.options(args);
        int workers = Integer.parseInt(options.getOrDefault("workers", "0"));
        SoundDecoder decoder = SoundDecoder.mono(16_000).resampled();
        decoder = options.containsKey("isolated") ? decoder.isolated() : decoder;
        String result = options.get("result");
        try (RecordStore store = RecordStore.open(Path.of(options.get("store")))) {
            String column = store.columns().getFirst().name();
            Dataset speech = SoundSteps.of(FixedLength.of(LENGTH), LogMel.whisper(80))
                    .map(RecordFields.of(store).and(column, decoder), column);
            if (result != null) {
                try (DataLoader loader = DataLoader.builder(speech).batchSize(1).workers(1).open();
                        Batch batch = loader.next()) {
                    Files.write(Path.of(result), batch.tensor(column).segment().toArray(JAVA_BYTE));
                }
                System.out.println(Json.write(Map.of("samples_per_second", 0)));
                return;
            }
            try (DataLoader loader = DataLoader.builder(speech).batchSize(16).shuffle(1).workers(workers).open()) {
                LongSupplier clock = clock(workers, options.containsKey("cpu"));
                round(loader, clock, Double.parseDouble(options.getOrDefault("warmup", "2")));
                double rate = round(loader, clock, Double.parseDouble(options.getOrDefault("seconds", "2")));
                System.out.println(Json.write(Map.of("samples_per_second", Math.round(10 * rate) / 10.0)));
            }
        }
    }

    private static double round(DataLoader loader, LongSupplier clock, double seconds) throws IOException {
        long start = clock.getAsLong();
        long end = start + (long) (seconds * 1e9);
        long count = 0;
        long now;
        do {
            try (Batch batch = loader.next()) {
                count += batch.count();
            }
            now = clock.getAsLong();
        } while (now < end);
        return count * 1e9 / (now - start);
    }

    private static LongSupplier clock(int workers, boolean isCpu) {
        if (workers == 0) {
            return ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime;
        }
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return isCpu ? system::getProcessCpuTime : System::nanoTime;
    }
}
