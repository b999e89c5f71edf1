// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.format.lmdb.LmdbStore;
import io.penstock.io.Location;
import io.penstock.io.Span;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Random reads of 2 KB records from an LMDB environment, each copied into one place of memory: by position, by key, and
 * as a limit the bare copies from where the records are. Figures are records a second.
 *
 * <p>{@code bench/peers/lmdb_get.py} writes the environment and measures py-lmdb; {@code -Dpenstock.bench.dir} names
 * another folder.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class LmdbRandomGet {
    private static final int READS = 1000;
    private static final int KEY_BYTES = 8;
    private static final int VALUE = 1;
    private static final Path DIRECTORY = Path.of(System.getProperty("penstock.bench.dir", "target/bench"));

    private final Arena arena = Arena.ofShared();
    private final Span span = new Span();
    private LmdbStore store;
    /** Positions in random order, the keys of the records there, and where their values are. */
    private int[] positions;
    private MemorySegment[] keys;
    private long[] offsets;
    private MemorySegment target;
    private int next;

    @Setup(Level.Trial)
    public void open() throws IOException {
        store = LmdbStore.open(Location.of(DIRECTORY.resolve("lmdb")), null);
        int records = (int) store.size();
        positions = new int[records / READS * READS];
        keys = new MemorySegment[positions.length];
        offsets = new long[positions.length];
        SplittableRandom random = new SplittableRandom(0);
        MemorySegment allKeys = arena.allocate((long) KEY_BYTES * positions.length);
        for (int i = 0; i < positions.length; i++) {
            positions[i] = random.nextInt(records);
            keys[i] = allKeys.asSlice((long) i * KEY_BYTES, KEY_BYTES).copyFrom(MemorySegment.ofArray(
                    String.format(Locale.ROOT, "%08d", positions[i]).getBytes(StandardCharsets.US_ASCII)));
            store.locate(positions[i], VALUE, span);
            offsets[i] = span.byteOffset();
        }
        target = arena.allocate(store.maxLength(VALUE), 64);
    }

    @TearDown(Level.Trial)
    public void close() {
        store.close();
        arena.close();
    }

    /** The first of the next reads; over all of them the source comes from memory, not from cache. */
    private int advance() {
        int first = next;
        next = (next + READS) % positions.length;
        return first;
    }

    @Benchmark
    @OperationsPerInvocation(READS)
    public void byPosition() {
        int first = advance();
        for (int i = first; i < first + READS; i++) {
            store.locate(positions[i], VALUE, span);
            MemorySegment.copy(span.segment(), span.byteOffset(), target, 0, span.byteSize());
        }
    }

    @Benchmark
    @OperationsPerInvocation(READS)
    public void byKey() {
        int first = advance();
        for (int i = first; i < first + READS; i++) {
            if (!store.locate(keys[i], span)) {
                throw new IllegalStateException("no key " + new String(keys[i].toArray(JAVA_BYTE),
                        StandardCharsets.US_ASCII));
            }
            MemorySegment.copy(span.segment(), span.byteOffset(), target, 0, span.byteSize());
        }
    }

    @Benchmark
    @OperationsPerInvocation(READS)
    public void bareCopy() {
        int first = advance();
        MemorySegment bytes = span.segment();
        for (int i = first; i < first + READS; i++) {
            MemorySegment.copy(bytes, offsets[i], target, 0, target.byteSize());
        }
    }
}
