// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.image.ImageFit;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.media.ClipDataset;
import io.penstock.media.Clips;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Clips that one thread decodes, from a mapped file to memory, in a second of its CPU time. Prints a JSON line;
 * {@code bench/peers/clips.py} calls it beside PyAV.
 *
 * <pre>
 *   --store FOLDER      files of one kind, such as mp4 or flac
 *   --work NAME         frames: 16 frames at stride 4, 8 clips a file; apart: windows of 16 frames, every 16 frames;
 *                       together: the same, 8 clips of a batch planned at once; sound: 5 seconds, 8 clips a file
 *   --seconds S --warmup S
 * </pre>
 */
public final class ClipRates {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int SIDE = 224;
    private static final int BATCH = 8;

    private final ClipDataset clips;
    private final FieldSource.Mapped source;
    private final SampleMap.Mapper session;
    private final Span span = new Span();
    private final MemorySegment number;
    private final MemorySegment out;
    private final long bytes;
    private final KeyedRandom random = new KeyedRandom(1, 2);
    private long next;
    /** Of the clips until now: the bytes of the files that are read. */
    private long readBytes;
    private long done;

    private ClipRates(ClipDataset clips, int field, Arena arena) {
        this.clips = clips;
        source = (FieldSource.Mapped) clips.source(field);
        session = source.map().open().orElseThrow();
        TensorSpec spec = clips.fields().get(field);
        bytes = spec.byteSize();
        number = arena.allocate(JAVA_LONG);
        out = arena.allocate(BATCH * bytes, 64);
    }

    /** Takes the options above. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = LoaderThroughput.options(args);
        String work = options.getOrDefault("work", "frames");
        try (RecordStore store = RecordStore.open(Path.of(options.get("store")));
                Arena arena = Arena.ofConfined()) {
            String column = store.columns().getFirst().name();
            Clips of = Clips.of(store, column).resize(ImageFit.stretch(SIDE, SIDE));
            of = switch (work) {
                case "frames" -> of.frames(16).stride(4).spaced(BATCH);
                case "sound" -> of.seconds(5).spaced(BATCH);
                default -> of.frames(16).windows(16);
            };
            try (ClipDataset clips = of.open()) {
                var rates = new ClipRates(clips, clips.indexOf(column), arena);
                boolean isPlanned = work.equals("together");
                rates.round(Double.parseDouble(options.getOrDefault("warmup", "2")), isPlanned);
                long decoded = clips.decodedPackets();
                long used = clips.usedFrames();
                rates.readBytes = 0;
                long allocated = allocatedBytes();
                var line = new LinkedHashMap<String, Object>();
                line.put("work", work);
                line.put("clips_per_cpu_second",
                        rates.round(Double.parseDouble(options.getOrDefault("seconds", "2")), isPlanned));
                line.put("decoded_for_one", Math.round(10.0 * (clips.decodedPackets() - decoded)
                        / (clips.usedFrames() - used)) / 10.0);
                line.put("read_kib_a_clip", Math.round(10.0 * rates.readBytes / rates.done / 1024) / 10.0);
                line.put("heap_bytes_a_clip", (allocatedBytes() - allocated) / rates.done);
                System.out.println(Json.write(line));
                rates.session.close();
            }
        }
    }

    private double round(double seconds, boolean isPlanned) throws IOException {
        long start = THREADS.getCurrentThreadCpuTime();
        long end = start + (long) (seconds * 1e9);
        long now;
        long count = 0;
        do {
            long first = next;
            next = (next + BATCH) % clips.size();
            for (int row = 0; isPlanned && row < BATCH; row++) {
                tell((first + row) % clips.size());
                session.plan(row, out, row * bytes);
            }
            for (int row = 0; row < BATCH; row++) {
                map((first + row) % clips.size(), row);
            }
            count += BATCH;
            done = count;
            now = THREADS.getCurrentThreadCpuTime();
        } while (now < end);
        return Math.round(count * 1e10 / (now - start)) / 10.0;
    }

    private static long allocatedBytes() {
        return ((com.sun.management.ThreadMXBean) THREADS).getCurrentThreadAllocatedBytes();
    }

    private void tell(long sample) throws IOException {
        number.set(JAVA_LONG, 0, sample);
        session.beside(number, 0, Long.BYTES);
    }

    private void map(long sample, int row) throws IOException {
        ((FieldSource.Stored) source.input()).place().locate(sample, span);
        tell(sample);
        random.select(sample, source.step());
        long begin = session.begin(span.byteSize(), random);
        readBytes += Math.max(0, session.end(span.byteSize()) - begin);
        session.map(span.segment(), span.byteOffset(), span.byteSize(), random, out, row * bytes, bytes,
                PartClock.NONE);
    }
}
