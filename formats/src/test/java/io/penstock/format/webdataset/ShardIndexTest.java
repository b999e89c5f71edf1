// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.codec.decoder.Compression;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.format.DecodedFiles;
import io.penstock.format.webdataset.WebDatasetStore.IndexUse;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.testing.Folders;
import io.penstock.testing.Thorough;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The index beside a shard is the shard's, or it is not used. */
class ShardIndexTest {

    private static final long SEED = 20261121;
    private static final int SAMPLES = 3000;

    @TempDir
    Path folder;
    private Path shard;

    @BeforeEach
    void write() throws IOException {
        shard = writeShard("train.tar", SAMPLES, 1000);
    }

    @Test
    void anIndexThatADeadWriterLeftUnfinishedIsReplaced() throws IOException {
        Path index = index(shard);
        Path left = Files.writeString(folder.resolve("." + index.getFileName() + ".writing"), "half");
        Files.delete(index);
        WebDatasetStore.open(Location.of(shard)).close();
        assertTrue(Files.exists(index));
        assertFalse(Files.exists(left));
    }

    @Test
    void anIndexThatAnotherWriterIsAtIsLeftToIt() throws IOException {
        Path index = index(shard);
        Path busy = Files.writeString(folder.resolve("." + index.getFileName() + ".writing"), "half");
        Files.delete(index);
        try (FileChannel channel = FileChannel.open(busy, StandardOpenOption.WRITE)) {
            channel.lock();
            try (WebDatasetStore store = WebDatasetStore.open(Location.of(shard))) {
                assertEquals(SAMPLES, store.size());
            }
        }
        assertFalse(Files.exists(index));
        assertTrue(Files.exists(busy));
    }

    @Test
    void aMemberBehindTwoTebibytesIsRefusedWhereverItsSampleBegins() throws IOException {
        Path large = folder.resolve("large.tar");
        try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {      // sparse
            file.write(header("a.bin", (2L << 40) - 512));
            file.seek(2L << 40);
            file.write(header("a.cls", 512));
            file.setLength((2L << 40) + 2048);
        }
        Location location = Location.of(large);
        try (Arena arena = Arena.ofConfined()) {
            String message = assertThrows(MalformedStoreException.class, () -> ShardIndexBuilder.build(location,
                    Compression.NONE, DecodeLimit.DEFAULT, ShardState.of(location), arena)).getMessage();
            assertTrue(message.contains("large.tar: at byte 2199023255552: a shard of more than 2 TiB"), message);
        }
    }

    private static byte[] header(String name, long bytes) {
        ByteBuffer header = ByteBuffer.allocate(512).put(name.getBytes(StandardCharsets.US_ASCII));
        header.put(124, (byte) 0x80).putLong(128, bytes).put(156, (byte) '0');
        header.put(257, "ustar\00000".getBytes(StandardCharsets.US_ASCII));
        int sum = 8 * ' ';
        for (byte b : header.array()) {
            sum += b & 0xFF;
        }
        return header.put(148, String.format("%06o\0 ", sum).getBytes(StandardCharsets.US_ASCII)).array();
    }

    private Path writeShard(String name, int samples, int bytes) throws IOException {
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve(name), Long.MAX_VALUE, Long.MAX_VALUE)) {
            for (int i = 0; i < samples; i++) {
                byte[] data = new byte[bytes + i % 7];
                new SplittableRandom(i).nextBytes(data);
                writer.write("dir/" + i, i % 5 == 0 ? Map.of("bin", MemorySegment.ofArray(data))
                        : Map.of("bin", MemorySegment.ofArray(data), "cls", text(Integer.toString(i))));
            }
            return writer.commit().getFirst();
        }
    }

    private static MemorySegment text(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] value(WebDatasetStore store, long record, int column) {
        Span span = new Span();
        store.locate(record, column, span);
        return span.slice().toArray(ValueLayout.JAVA_BYTE);
    }

    private static void assertContent(WebDatasetStore store) {
        assertEquals(SAMPLES, store.size());
        for (int i = 0; i < SAMPLES; i += 7) {
            byte[] data = new byte[1000 + i % 7];
            new SplittableRandom(i).nextBytes(data);
            assertArrayEquals(data, value(store, i, 0));
            assertEquals(i % 5 != 0, store.isPresent(i, 1));
            if (i % 5 != 0) {
                assertEquals(Integer.toString(i), new String(value(store, i, 1), StandardCharsets.UTF_8));
            }
            assertEquals("dir/" + i, store.key(i));
        }
    }

    private static Path index(Path tar) {
        return tar.resolveSibling(tar.getFileName() + IndexFile.ENDING);
    }

    private ShardIndex read(Path path, Arena arena) throws IOException {
        return IndexFile.read(Location.of(path), ShardState.of(Location.of(path)), Files.size(path), arena);
    }

    @Test
    void theWritersIndexIsTheOneThatAPassOverTheShardMakes() throws IOException {
        try (Arena arena = Arena.ofShared()) {
            ShardIndex kept = read(shard, arena);
            assertNotNull(kept);
            ShardIndex made = ShardIndexBuilder.build(Location.of(shard), Compression.NONE, DecodeLimit.DEFAULT,
                    ShardState.of(Location.of(shard)), arena);
            assertEquals(-1, kept.bytes().asSlice(96).mismatch(made.bytes().asSlice(96)));
            assertEquals(SAMPLES, made.samples());
            assertEquals(SAMPLES * 2 - SAMPLES / 5, made.members());
        }
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(shard))) {
            assertContent(store);
            assertEquals(1006, store.maxLength(0));
            assertFalse(store.isConverted(0));
        }
    }

    @Test
    void anIndexOfAnotherSizeTimeOrContentIsMadeAgain() throws IOException {
        byte[] index = Files.readAllBytes(index(shard));
        FileTime time = Files.getLastModifiedTime(shard);
        byte[] bytes = Files.readAllBytes(shard);
        try (Arena arena = Arena.ofShared()) {
            Files.setLastModifiedTime(shard, FileTime.from(time.to(TimeUnit.SECONDS) + 2, TimeUnit.SECONDS));
            assertNull(read(shard, arena));
            Files.setLastModifiedTime(shard, time);
            assertNotNull(read(shard, arena));
            bytes[600] ^= 1;
            Files.write(shard, bytes);
            Files.setLastModifiedTime(shard, time);
            assertNull(read(shard, arena));
            Files.write(shard, new byte[512], java.nio.file.StandardOpenOption.APPEND);
            Files.setLastModifiedTime(shard, time);
            assertNull(read(shard, arena));
        }
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(shard))) {
            assertEquals(SAMPLES, store.size());
        }
        assertNotEquals(-1, java.util.Arrays.mismatch(index, Files.readAllBytes(index(shard))));
        try (Arena arena = Arena.ofShared()) {
            assertNotNull(read(shard, arena));
        }
    }

    @Test
    void nothingIsWrittenWhereThatIsSwitchedOff() throws IOException {
        Files.delete(index(shard));
        for (IndexUse use : List.of(IndexUse.READ_ONLY, IndexUse.MEMORY)) {
            try (WebDatasetStore store = WebDatasetStore.open(List.of(Location.of(shard)), use)) {
                assertContent(store);
            }
        }
        assertFalse(Files.exists(index(shard)));
        WebDatasetStore.open(Location.of(shard)).close();
        assertTrue(Files.exists(index(shard)));
        assertEquals(3, Folders.files(folder).size(), "the shard, its index and its checksums");
    }

    /** Whoever writes beside the shard may write anything: what is read stays within the shard. */
    @Tag("slow")
    @Test
    void aDamagedIndexIsNotUsedAndAForgedOneStaysWithinTheShard() throws IOException {
        Path file = index(shard);
        byte[] index = Files.readAllBytes(file);
        SplittableRandom random = new SplittableRandom(SEED);
        int used = 0;
        int tries = Thorough.times(60, 160);
        for (int i = 0; i < tries; i++) {
            byte[] bytes = index.clone();
            int at = i % 2 == 0 ? 48 + random.nextInt(60) : random.nextInt(bytes.length);
            bytes[at] = (byte) random.nextInt();
            if (random.nextInt(4) == 0) {
                bytes = java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length * 2));
            }
            boolean forged = random.nextBoolean() && bytes.length >= 96;
            if (forged) {
                CRC32C crc = new CRC32C();
                crc.update(bytes, 0, 88);
                crc.update(bytes, 92, bytes.length - 92);
                MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_INT_UNALIGNED, 88, (int) crc.getValue());
            }
            Files.write(file, bytes);
            try (WebDatasetStore store = WebDatasetStore.open(List.of(Location.of(shard)), IndexUse.READ_ONLY)) {
                if (!forged) {
                    assertEquals(SAMPLES, store.size(), "seed " + SEED + ", " + i);
                }
                used += store.size() == SAMPLES ? 1 : 0;
                Span span = new Span();
                for (long record = 0; record < store.size(); record += 97) {
                    for (int c = 0; c < store.columns().size(); c++) {
                        if (store.isPresent(record, c)) {
                            store.locate(record, c, span);
                            span.slice();
                        }
                    }
                    try {
                        store.key(record);
                    } catch (UncheckedIOException | PenstockException e) {
                        assertTrue(forged, e.getMessage());
                    }
                }
            }
        }
        assertTrue(used > tries / 2, used + " of " + tries + " opened whole");
    }

    @Test
    void aCompressedShardIsDecodedToBeIndexedAndNotAgainToBeOpened() throws IOException {
        Path packed = folder.resolve("packed.tar.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
            out.write(Files.readAllBytes(shard));
        }
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(packed))) {
            assertContent(store);
            assertTrue(store.isConverted(0));
        }
        assertTrue(Files.exists(index(packed)));
        // With its index, a shard whose middle is damaged opens; it is found out when it is decoded.
        byte[] bytes = Files.readAllBytes(packed);
        FileTime time = Files.getLastModifiedTime(packed);
        int damaged = damagedPlace(bytes.length);
        bytes[damaged] ^= 0x10;
        Files.write(packed, bytes);
        Files.setLastModifiedTime(packed, time);
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(packed))) {
            assertEquals(SAMPLES, store.size());
            for (int i = 0; i < 2; i++) {
                String message = org.junit.jupiter.api.Assertions.assertThrows(MalformedStoreException.class,
                        () -> store.locate(17, 0, new Span())).getMessage();
                assertTrue(message.contains("packed.tar.gz"), message);
            }
        }
    }

    private static byte[] packed(char letter, int... sizes) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(bytes)) {
            for (int i = 0; i < sizes.length; i++) {
                out.write(header(i + ".txt", sizes[i]));
                byte[] data = new byte[(sizes[i] + 511) / 512 * 512];
                java.util.Arrays.fill(data, 0, sizes[i], (byte) letter);
                out.write(data);
            }
            out.write(new byte[10_240 - 512 * (sizes.length + 4)]);
        }
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCompressedShardThatIsReplacedBeforeItIsDecodedIsNamed(boolean inPlace) throws IOException {
        Path packed = Files.write(folder.resolve("s.tar.gz"), packed('A', 600, 10, 10));
        Files.setLastModifiedTime(packed, FileTime.fromMillis(1_700_000_000_000L));
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(packed))) {
            Path other = inPlace ? packed : folder.resolve("new");
            Files.write(other, packed('B', 10, 600, 10));
            Files.move(other, packed, StandardCopyOption.REPLACE_EXISTING);
            for (long sample = 0; sample < 3; sample++) {
                long each = sample;
                String message = assertThrows(MalformedStoreException.class, () -> value(store, each, 0)).getMessage();
                assertTrue(message.startsWith(packed + ": found " + Files.size(packed) + " bytes of version "),
                        message);
            }
            assertThrows(MalformedStoreException.class, () -> store.inspect(Inspection.Depth.CONTENT, Progress.NONE));
        }
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(packed))) {
            assertEquals("B".repeat(600), new String(value(store, 1, 0), StandardCharsets.UTF_8));
        }
    }

    @Test
    void aCompressedShardIsLookedAtBeforeItIsDecodedAndAfter() throws IOException {
        Path packed = Files.write(folder.resolve("s.tar.gz"), packed('A', 600, 10, 10));
        DecodedFiles files = new DecodedFiles(Location.of(packed).source());
        Location location = new Location(files, packed.toString());
        try (WebDatasetStore store = WebDatasetStore.open(location)) {
            int before = files.looks.get();
            for (long sample = 0; sample < 3; sample++) {
                assertEquals(sample == 0 ? 600 : 10, value(store, sample, 0).length);
            }
            assertEquals(before + 2, files.looks.get(), "looks at a shard of three samples");
        }
        try (WebDatasetStore store = WebDatasetStore.open(location)) {
            files.whenRead = () -> {
                Files.write(folder.resolve("new"), packed('B', 10, 600, 10));
                Files.move(folder.resolve("new"), packed, StandardCopyOption.REPLACE_EXISTING);
            };
            assertThrows(MalformedStoreException.class, () -> value(store, 0, 0));
        }
    }

    /** A byte that is in none of the blocks by which a shard is known again. */
    private static int damagedPlace(int size) {
        long step = (size - 4096) / 15;
        return (int) ((step * 7 & -4096) + 4096 + (step - 4096) / 2);
    }

    @Test
    void locatingAllocatesNothingOnTheHeap() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Path other = writeShard("other.tar", 100, 10);
        try (WebDatasetStore store = WebDatasetStore.open(List.of(Location.of(shard), Location.of(other)),
                IndexUse.SIDECAR)) {
            Span span = new Span();
            long least = Long.MAX_VALUE;
            for (int window = 0; window < 1_000 && least > 0; window++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (long i = 0; i < 20_000; i++) {
                    long record = i * 7919 % store.size();
                    store.locate(record, 0, span);
                    store.isPresent(record, 1);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least, "bytes");
        }
    }
}
