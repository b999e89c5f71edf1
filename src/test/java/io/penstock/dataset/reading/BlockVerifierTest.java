// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.store.IfExists;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Blocks are checked when they are first read, once, by whichever thread comes. */
class BlockVerifierTest {

    private static final int BLOCK = BlockChecksums.DEFAULT_BLOCK_BYTES;
    private static final int BLOCKS = 70;
    private static final int BYTES = BLOCKS * BLOCK - 1_000;

    /** The JIT compiler decides when the code is warm: one of this many rounds must allocate nothing. */
    private static final int ROUNDS = 300;
    private static final int CHECKS = 10_000;

    @TempDir
    private Path folder;

    private Path file(int... damaged) throws IOException {
        byte[] bytes = new byte[BYTES];
        new SplittableRandom(3).nextBytes(bytes);
        Path file = Files.write(folder.resolve("data"), bytes);
        BlockChecksums.write(file, IfExists.REPLACE, _ -> { });
        for (int at : damaged) {
            bytes[at] ^= 32;
        }
        return Files.write(file, bytes);
    }

    @Test
    void checksumsOfAFileThatIsReplacedAreNotTakenForThoseOfTheOldOne() throws IOException {
        Path path = file();
        Span span = new Span();
        try (MappedFile file = MappedFile.open(path); SpanReader reader = new SpanReader(ReadMode.AUTO);
                BlockVerifier verifier = new BlockVerifier(new VerifiedReads(), reader)) {
            Path other = Files.write(folder.resolve("other"), new byte[BYTES]);
            Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
            BlockChecksums.write(path, IfExists.REPLACE, _ -> { });
            span.set(file, 0, 1);
            String message = assertThrows(UncheckedIOException.class, () -> verifier.check(span)).getMessage();
            assertTrue(message.contains(path + ": was replaced since it was opened"), message);
        }
    }

    @Test
    void checksumsThatAreInTheirPlaceBeforeTheirFileAreNotTakenForThoseOfTheOldOne() throws IOException {
        Path path = file();
        Span span = new Span();
        try (MappedFile file = MappedFile.open(path); SpanReader reader = new SpanReader(ReadMode.AUTO);
                BlockVerifier verifier = new BlockVerifier(new VerifiedReads(), reader)) {
            Path committed = Files.createDirectory(folder.resolve(".data.committed"));
            Path other = Files.write(committed.resolve("data"), new byte[BYTES]);
            BlockChecksums.write(other, IfExists.REPLACE, _ -> { });
            Files.move(BlockChecksums.pathFor(other), BlockChecksums.pathFor(path),
                    StandardCopyOption.REPLACE_EXISTING);
            span.set(file, 0, 1);
            String message = assertThrows(UncheckedIOException.class, () -> verifier.check(span)).getMessage();
            assertTrue(message.contains(path + ": was replaced since it was opened"), message);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSpanIsGoodIfAllItsBlocksAreAndNoOtherBlockIsLookedAt(ReadMode mode) throws IOException {
        var reads = new VerifiedReads();
        Span span = new Span();
        try (MappedFile file = MappedFile.open(file(5 * BLOCK, 64 * BLOCK - 1, BYTES - 1));
                SpanReader reader = new SpanReader(mode); BlockVerifier verifier = new BlockVerifier(reads, reader)) {
            long[][] good = {{0, 1}, {BLOCK - 1, 2}, {4 * BLOCK, BLOCK}, {6 * BLOCK, 57L * BLOCK}, {BYTES - 1, 0}};
            for (long[] range : good) {
                span.set(file, range[0], range[1]);
                verifier.check(span);
            }
            assertEquals(60L * BLOCK, reads.verifiedBytes(), "blocks 0, 1, 4 and 6 to 62");
            long[][] bad = {{5 * BLOCK, 1}, {6 * BLOCK - 1, 1}, {4 * BLOCK, BLOCK + 1}, {63 * BLOCK, 10},
                    {BYTES - 1, 1}, {0, BYTES}};
            for (long[] range : bad) {
                span.set(file, range[0], range[1]);
                for (int again = 0; again < 2; again++) {
                    assertThrows(MalformedStoreException.class, () -> verifier.check(span));
                }
            }
        }
    }

    @Test
    void memoryAndFilesWithoutChecksumsAreTakenAsTheyAre() throws IOException {
        Path path = file(0);
        Files.delete(BlockChecksums.pathFor(path));
        var reads = new VerifiedReads();
        try (MappedFile file = MappedFile.open(path); SpanReader reader = new SpanReader(ReadMode.MMAP);
                BlockVerifier verifier = new BlockVerifier(reads, reader)) {
            Span span = new Span();
            span.set(file, 0, BYTES);
            verifier.check(span);
            span.set(MemorySegment.ofArray(new byte[5]), 0, 5);
            verifier.check(span);
        }
        assertEquals(0, reads.verifiedBytes());
    }

    @Test
    void threadsThatReadTheSameBlocksAllFindTheBadOneAndAgreeOnTheOthers() throws Exception {
        var reads = new VerifiedReads();
        int bad = 33;
        try (MappedFile file = MappedFile.open(file(bad * BLOCK + 7));
                ExecutorService pool = Executors.newFixedThreadPool(4)) {
            List<Future<Long>> results = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                Callable<Long> task = () -> refusals(file, reads);
                results.add(pool.submit(task));
            }
            for (Future<Long> result : results) {
                assertEquals(1, result.get());
            }
        }
        assertTrue(reads.verifiedBytes() >= BYTES - BLOCK && reads.verifiedBytes() <= 4L * BYTES);
    }

    private static long refusals(MappedFile file, VerifiedReads reads) {
        long refused = 0;
        Span span = new Span();
        try (SpanReader reader = new SpanReader(ReadMode.PREAD);
                BlockVerifier verifier = new BlockVerifier(reads, reader)) {
            for (long block = 0; block < BLOCKS; block++) {
                span.set(file, block * BLOCK + 5, 20);
                try {
                    verifier.check(span);
                } catch (MalformedStoreException _) {
                    refused++;
                }
            }
        }
        return refused;
    }

    @Test
    void aWarmVerifierAllocatesNothing() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().threadId();
        long allocated = Long.MAX_VALUE;
        Span span = new Span();
        try (MappedFile file = MappedFile.open(file()); SpanReader reader = new SpanReader(ReadMode.MMAP)) {
            for (int round = 0; round < ROUNDS && allocated > CHECKS; round++) {
                try (BlockVerifier verifier = new BlockVerifier(new VerifiedReads(), reader)) {
                    span.set(file, 0, 1);
                    verifier.check(span);
                    long before = threads.getThreadAllocatedBytes(thread);
                    for (int i = 0; i < CHECKS; i++) {
                        span.set(file, (long) i * 8_191 % (BYTES - 500), 500);
                        verifier.check(span);
                    }
                    allocated = threads.getThreadAllocatedBytes(thread) - before;
                }
            }
        }
        assertTrue(allocated <= CHECKS, allocated + " bytes in " + CHECKS + " checks");
    }
}
