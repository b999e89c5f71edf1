package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.sampling.Permutation;
import io.penstock.testing.Digests;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A loader on a device of great latency, in a process of its own. */
class ColdLoaderTest {

    private static final int FILE_BYTES = 32 << 20;
    private static final long LATENCY_MILLIS = 60;
    private static final double SECONDS = 0.8;
    private static final Pattern REACHING = Pattern.compile("Reaching safepoint: +(\\d+) ns");
    private static final Pattern BATCHES = Pattern.compile("batches (\\d+) (\\S+)");

    @TempDir
    Path folder;

    private record Run(long batches, double seconds, String firstDigest, List<Long> reachingNanos) {
        /** How long all safepoints together waited for threads to come to them. */
        double reachingSeconds() {
            return reachingNanos.stream().mapToLong(Long::longValue).sum() / 1e9;
        }

        /** How many reads of a window were under way at the same time, on average. */
        double depth() {
            return batches * ColdTrainer.BATCH * LATENCY_MILLIS / 1e3 / seconds;
        }

        @Override
        public String toString() {
            return batches + " batches, so " + depth() + " reads at once; " + reachingNanos.size()
                    + " safepoints took " + reachingSeconds() + " s to reach, the slowest "
                    + reachingNanos.getLast() / 1e9 + " s";
        }
    }

    @BeforeEach
    void needsFuse() {
        assumeTrue(Files.isWritable(Path.of("/dev/fuse")), "no /dev/fuse that this user may write");
    }

    private Run train(String mode, long readAhead, int workers, double seconds) throws Exception {
        Path mount = Files.createTempDirectory(folder, "slow");
        try (SlowFileSystem slow = mounted(mount)) {
            Process child = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin/java").toString(),
                    "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx32m", "-Xshare:auto",
                    "-Xlog:safepoint=info:stdout", "-cp", System.getProperty("java.class.path"),
                    ColdTrainer.class.getName(), slow.file().toString(), mode, "" + readAhead, "" + workers,
                    "" + seconds).redirectErrorStream(true).start();
            var output = new ByteArrayOutputStream();
            child.getInputStream().transferTo(output);
            assertEquals(0, child.waitFor(), output::toString);
            var reaching = new ArrayList<Long>();
            REACHING.matcher(output.toString()).results().forEach(m -> reaching.add(Long.parseLong(m.group(1))));
            reaching.sort(null);
            var batches = BATCHES.matcher(output.toString());
            assertTrue(batches.find() && !reaching.isEmpty(), output::toString);
            var run = new Run(Long.parseLong(batches.group(1)), seconds, batches.group(2), reaching);
            System.out.println(mode + (readAhead == 0 ? ", nothing ahead: " : ": ") + run);
            assertEquals(firstBatch(slow.content()), run.firstDigest);
            return run;
        }
    }

    private static SlowFileSystem mounted(Path mount) {
        try {
            return new SlowFileSystem(mount, FILE_BYTES, 3, LATENCY_MILLIS);
        } catch (IOException e) {
            abort(e.getMessage());
            return null;
        }
    }

    private static String firstBatch(byte[] content) {
        int windowBytes = 2 * ColdTrainer.WINDOW_TOKENS;
        byte[] batch = new byte[ColdTrainer.BATCH * windowBytes];
        var order = new Permutation(content.length / windowBytes, ColdTrainer.SEED, 0);
        for (int row = 0; row < ColdTrainer.BATCH; row++) {
            System.arraycopy(content, (int) order.at(row) * windowBytes, batch, row * windowBytes, windowBytes);
        }
        return Digests.of(MemorySegment.ofArray(batch));
    }

    /**
     * What touches the mapping waits in a page fault most of the time, and every safepoint with it: the control that
     * shows that this device holds them up.
     */
    @Test
    void aSafepointDoesNotWaitForColdPages() throws Exception {
        double control = train("mmap", 0, 1, SECONDS).reachingSeconds();
        assertTrue(control > SECONDS / 3, "the control: " + control);
        for (String mode : new String[] {"pread", "auto"}) {
            Run run = train(mode, -1, 1, SECONDS);
            assertTrue(run.reachingSeconds() < control / 3, run + ", against " + control);
        }
    }

    @Test
    void aDeviceHasManyReadsAtOnceHoweverFewTheWorkers() throws Exception {
        Run oneByOne = train("auto", 0, 1, SECONDS);
        Run ahead = train("auto", -1, 1, SECONDS);
        assertTrue(oneByOne.depth() < 2, "the control: " + oneByOne);
        assertTrue(ahead.depth() > 8, ahead.toString());
    }
}
