// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Packs documents of log-normal lengths, mean 600 tokens, into sequences of 4,096, and prints time, memory and padding.
 *
 * <p>{@code java -Xmx3g -XX:+UseSerialGC -XX:ActiveProcessorCount=1 … io.penstock.bench.PackLengths 100000000}
 */
final class PackLengths {

    private static final int CAPACITY = 4096;
    private static final double SIGMA = 0.8;
    private static final int DRAWS = 1 << 16;

    private PackLengths() {
    }

    /** Documents that are only lengths, drawn anew at each look. */
    private record OnlyLengths(long size, int[] draws) implements Dataset {

        @Override
        public List<TensorSpec> fields() {
            return List.of(new TensorSpec("tokens", DType.I32, TensorSpec.VARIABLE));
        }

        @Override
        public FieldSource source(int field) {
            return FieldSource.stored((sample, into) -> into.set(MemorySegment.NULL, 0, 4L * length(sample)));
        }

        private long length(long sample) {
            long mixed = sample * 0x9E3779B97F4A7C15L;
            mixed = (mixed ^ mixed >>> 32) * 0xD6E8FEB86659FD93L;
            return draws[(int) (mixed >>> 48)];
        }

        @Override
        public String fingerprint() {
            return "lengths:" + size;
        }
    }

    public static void main(String[] args) throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        int[] draws = new int[DRAWS];
        double mu = Math.log(600) - SIGMA * SIGMA / 2;
        for (int i = 0; i < DRAWS; i++) {
            draws[i] = (int) Math.clamp(Math.exp(mu + SIGMA * random.nextGaussian()), 1, CAPACITY);
        }
        long wall = System.nanoTime();
        long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        try (PackedSequences packed = Packing.of(new OnlyLengths(Long.parseLong(args[0]), draws), CAPACITY).pack()) {
            cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu;
            String peak = Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmHWM")).findAny().orElse("");
            System.out.printf(Locale.ROOT,
                    "%d lengths in %d sequences: %.1f s, %.1f s of processor, %s, %.3f %% padding%n",
                    packed.pieceCount(), packed.size(), (System.nanoTime() - wall) / 1e9, cpu / 1e9,
                    peak.replaceAll("\\s+", " "), 100 * packed.paddingShare());
        }
    }
}
