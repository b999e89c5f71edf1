// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.Device;
import io.penstock.loader.DataLoader;
import io.penstock.pytorch.TorchBatch;
import io.penstock.pytorch.TorchBatches;
import io.penstock.sampling.Shard;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;

/**
 * Trains for very many steps, and tells whether anything stays behind: what malloc has given out, where each tensor of
 * torch that is forgotten takes 400 bytes or more, JavaCPP's pointers, descriptors, threads, memory. Fails if one grows
 * from the first tenth to the end. On Linux with glibc.
 */
final class Soak {

    private static final int REPORTS = 10;
    private static final long MALLOC_SLACK_BYTES = 8 << 20;
    private static final long RESIDENT_SLACK_BYTES = 64 << 20;
    private static final StructLayout MALLINFO = MemoryLayout.structLayout(JAVA_LONG.withName("arena"),
            JAVA_LONG.withName("ordblks"), JAVA_LONG.withName("smblks"), JAVA_LONG.withName("hblks"),
            JAVA_LONG.withName("hblkhd"), JAVA_LONG.withName("usmblks"), JAVA_LONG.withName("fsmblks"),
            JAVA_LONG.withName("uordblks"), JAVA_LONG.withName("fordblks"), JAVA_LONG.withName("keepcost"));

    /** What is in use. */
    private record Use(long mallocBytes, long pointers, long descriptors, long threads, long residentBytes) {

        static Use now() throws IOException {
            System.gc();
            return new Use(Soak.mallocBytes(), Pointer.totalCount(), count("/proc/self/fd"), count("/proc/self/task"),
                    Pointer.physicalBytes());
        }

        private static long count(String folder) throws IOException {
            try (Stream<Path> entries = Files.list(Path.of(folder))) {
                return entries.count();
            }
        }

        boolean isFlatSince(Use before) {
            return mallocBytes <= before.mallocBytes + MALLOC_SLACK_BYTES && pointers <= before.pointers + 16
                    && descriptors <= before.descriptors + 2 && threads <= before.threads + 8
                    && residentBytes <= before.residentBytes + RESIDENT_SLACK_BYTES;
        }

        String text() {
            return String.format(Locale.ROOT, "malloc %,d kB, %,d pointers, %d descriptors, %d threads,"
                    + " resident %,d kB", mallocBytes / 1000, pointers, descriptors, threads, residentBytes / 1000);
        }
    }

    private Soak() {
    }

    public static void main(String[] args) throws IOException {
        if (!run(flags(args))) {
            System.exit(1);
        }
    }

    static Flags flags(String... args) {
        return Flags.of(args, "--store", "", "--size", "nano", "--context", "16", "--batch", "2", "--steps", "100000",
                "--threads", "1");
    }

    /** Returns whether nothing stayed behind. */
    static boolean run(Flags flags) throws IOException {
        Model.useThreads(flags.whole("--threads"));
        int steps = flags.whole("--steps");
        try (Input input = Input.open(flags.path("--store"), flags.whole("--context"));
                DataLoader loader = input.training(flags.whole("--batch"), 42, 0, Shard.whole(), null, Device.host())) {
            TorchBatches batches = TorchBatches.of(loader);
            Model model = new Model(Size.named(flags.text("--size")), flags.whole("--context"), input.tokens(),
                    Model.cpu());
            try (Optimizing optimizing = new Optimizing(model, Ranks.of(Map.of(), "", false))) {
                Use.now();      // it keeps a file open
                List<Use> uses = new ArrayList<>();
                for (int report = 1; report <= REPORTS; report++) {
                    double loss = 0;
                    for (int i = 0; i < steps / REPORTS; i++) {
                        loss = step(model, optimizing, batches);
                    }
                    uses.add(Use.now());
                    System.out.printf(Locale.ROOT, "step %,d  loss %.3f  %s%n", (long) report * (steps / REPORTS), loss,
                            uses.getLast().text());
                }
                // A compiler of the JVM has some megabytes for a while; what steps leave is in every one of the last.
                List<Use> last = uses.subList(REPORTS / 2, REPORTS);
                return last.stream().anyMatch(use -> use.isFlatSince(uses.getFirst()));
            }
        }
    }

    private static double step(Model model, Optimizing optimizing, TorchBatches batches) {
        try (PointerScope _ = new PointerScope(); TorchBatch batch = batches.next()) {
            optimizing.begin();
            Model.Loss loss = model.loss(batch, batch.batch().count());
            loss.sum().backward();
            return optimizing.end(loss.sum().item_double(), loss.labels().item_double(), 1e-3);
        }
    }

    @SuppressWarnings("restricted")
    private static long mallocBytes() {
        Linker linker = Linker.nativeLinker();
        MethodHandle mallinfo2 = linker.downcallHandle(linker.defaultLookup().findOrThrow("mallinfo2"),
                FunctionDescriptor.of(MALLINFO));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = (MemorySegment) mallinfo2.invokeExact((SegmentAllocator) arena);
            return info.get(JAVA_LONG, MALLINFO.byteOffset(MemoryLayout.PathElement.groupElement("uordblks")))
                    + info.get(JAVA_LONG, MALLINFO.byteOffset(MemoryLayout.PathElement.groupElement("hblkhd")));
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }
}
