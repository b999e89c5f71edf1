// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.codec.CodecException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A stream gives each sample once an epoch, in an order that follows from its seed, and goes on where it stood. */
class WebDatasetStreamTest {

    private static final int SAMPLES = 61;
    private static final StreamOrder ORDER = new StreamOrder(42, true, 16, 5);

    @TempDir
    Path folder;
    private List<Path> shards;

    private List<Location> locations() {
        return shards.stream().map(Location::of).toList();
    }

    /** Shards of 10 samples, every other one compressed. */
    @BeforeEach
    void write() throws IOException {
        shards = new ArrayList<>();
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("s-%02d.tar"), 10, Long.MAX_VALUE)) {
            for (int i = 0; i < SAMPLES; i++) {
                writer.write("k" + i, Map.of("txt", text(content(i)), "cls", text("" + i % 7)));
            }
            shards.addAll(writer.commit());
        }
        for (int i = 1; i < shards.size(); i += 2) {
            Path packed = Path.of(shards.get(i) + ".gz");
            try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
                out.write(Files.readAllBytes(shards.get(i)));
            }
            shards.set(i, packed);
        }
    }

    private static MemorySegment text(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String content(int i) {
        return ("content of " + i + " ").repeat(i * 13 % 200);
    }

    private static String take(WebDatasetStream stream) {
        Span span = new Span();
        assertTrue(stream.locate("txt", span));
        int number = Integer.parseInt(stream.key().substring(1));
        assertEquals(content(number), new String(span.slice().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8));
        assertTrue(stream.locate("cls", span));
        assertFalse(stream.locate("jpg", span));
        assertEquals(List.of("cls", "txt"), stream.suffixes());
        return stream.key();
    }

    private static List<String> rest(WebDatasetStream stream) throws IOException {
        List<String> keys = new ArrayList<>();
        while (stream.next()) {
            keys.add(take(stream));
        }
        return keys;
    }

    private List<String> all(StreamOrder order, long epoch) throws IOException {
        try (WebDatasetStream stream = WebDatasetStream.open(locations(), order, epoch)) {
            return rest(stream);
        }
    }

    /** WebDataset's {@code _shuffle}, line by line, over lists. */
    private List<String> model(StreamOrder order, long epoch) {
        StreamRandom random = StreamRandom.of(order.seed(), epoch);
        List<String> data = new ArrayList<>();
        for (int shard : order.shards(shards.size(), random)) {
            for (int i = shard * 10; i < Math.min(SAMPLES, shard * 10 + 10); i++) {
                data.add("k" + i);
            }
        }
        List<String> given = new ArrayList<>();
        List<String> buffer = new ArrayList<>();
        var next = data.iterator();
        while (next.hasNext()) {
            buffer.add(next.next());
            if (buffer.size() < order.bufferSamples() && next.hasNext()) {
                buffer.add(next.next());
            }
            if (buffer.size() >= Math.min(order.initialSamples(), order.bufferSamples())) {
                given.add(pick(buffer, random));
            }
        }
        while (!buffer.isEmpty()) {
            given.add(pick(buffer, random));
        }
        return given;
    }

    private static String pick(List<String> buffer, StreamRandom random) {
        int drawn = random.nextInt(buffer.size());
        String picked = buffer.get(drawn);
        buffer.set(drawn, buffer.getLast());
        buffer.removeLast();
        return picked;
    }

    @Test
    void theOrderIsThatOfWebDatasetsShuffle() throws IOException {
        for (StreamOrder order : List.of(ORDER, StreamOrder.AS_WRITTEN, StreamOrder.shuffled(-3, 1000),
                new StreamOrder(1, false, 4, 9), new StreamOrder(7, true, 1, 1))) {
            for (long epoch = 0; epoch < 3; epoch++) {
                List<String> given = all(order, epoch);
                assertEquals(model(order, epoch), given, order + ", epoch " + epoch);
                assertEquals(SAMPLES, new HashSet<>(given).size());
            }
        }
        assertNotEquals(all(ORDER, 0), all(ORDER, 1));
        assertNotEquals(all(ORDER, 0), all(new StreamOrder(43, true, 16, 5), 0));
    }

    @Test
    void aStreamThatResumesFromAStateGivesWhatTheOtherWouldHave() throws IOException {
        for (StreamOrder order : List.of(ORDER, StreamOrder.AS_WRITTEN, StreamOrder.shuffled(5, 1000))) {
            List<String> all = all(order, 2);
            for (int given = 0; given <= SAMPLES; given += 3) {
                StreamState state;
                try (WebDatasetStream stream = WebDatasetStream.open(locations(), order, 2)) {
                    for (int i = 0; i < given; i++) {
                        assertTrue(stream.next());
                    }
                    state = stream.state();
                }
                StreamState read = StreamState.fromJson(state.toJson());
                assertEquals(state, read);
                try (WebDatasetStream stream = WebDatasetStream.resume(locations(), read)) {
                    assertEquals(state, stream.state());
                    assertEquals(all.subList(given, SAMPLES), rest(stream), order + " after " + given);
                    stream.nextEpoch();
                    assertEquals(all(order, 3), rest(stream));
                }
            }
        }
    }

    @Test
    void aStateOfOtherShardsOrWithPlacesWhereNoSampleBeginsIsRefused() throws IOException {
        StreamState state;
        try (WebDatasetStream stream = WebDatasetStream.open(locations(), ORDER, 0)) {
            stream.next();
            state = stream.state();
        }
        assertThrows(IllegalArgumentException.class,
                () -> WebDatasetStream.resume(locations().subList(0, 3), state));
        for (long offset : new long[] {1, 512, 1 << 30, Long.MAX_VALUE}) {
            StreamState wrong = new StreamState(state.shards(), ORDER, 0, 1, 0, 1, 0, List.of(0L, offset));
            assertThrows(Exception.class, () -> WebDatasetStream.resume(locations(), wrong).close());
            StreamState wrongPlace = new StreamState(state.shards(), ORDER, 0, 1, 0, 1, offset, List.of());
            if (offset != 512) {
                assertThrows(IOException.class, () -> WebDatasetStream.resume(locations(), wrongPlace).close());
            }
        }
        assertThrows(IllegalArgumentException.class, () -> WebDatasetStream.resume(locations(),
                new StreamState(state.shards(), ORDER, 0, 1, 0, 99, 0, List.of())));
        for (String json : List.of("", "{}", "[]", "{\"penstock_stream_state\":2}", state.toJson().replace("16", "-1"),
                state.toJson().replace("\"given\":1", "\"given\":\"1\""), state.toJson().replace("[", "[null,"))) {
            assertThrows(IllegalArgumentException.class, () -> StreamState.fromJson(json), json);
        }
    }

    @Test
    void aCutShardIsAnErrorThatNamesIt() throws IOException {
        for (int shard : new int[] {0, 1}) {
            Path cut = shards.get(shard);
            byte[] bytes = Files.readAllBytes(cut);
            Files.write(cut, java.util.Arrays.copyOf(bytes, bytes.length * 2 / 3));
            try (WebDatasetStream stream = WebDatasetStream.open(List.of(Location.of(cut)), StreamOrder.AS_WRITTEN,
                    0)) {
                String message = assertThrows(IOException.class, () -> rest(stream)).getMessage();
                assertTrue(message.contains(cut.toString()), message);
            }
            Files.write(cut, bytes);
        }
    }

    @Test
    void gzipTakesMembersAndZerosBehindThemAndNothingElse() throws IOException {
        byte[] packed = Files.readAllBytes(shards.get(1));
        byte[] plain = Files.readAllBytes(folder.resolve("s-01.tar"));
        byte[] zeros = java.util.Arrays.copyOf(packed, packed.length + 100_000);
        assertEquals(-1, java.util.Arrays.mismatch(plain, gunzip(zeros)));
        byte[] twice = java.util.Arrays.copyOf(packed, packed.length * 2);
        System.arraycopy(packed, 0, twice, packed.length, packed.length);
        assertEquals(plain.length * 2, gunzip(twice).length);
        for (int length = packed.length + 1; length < twice.length; length += 11) {
            byte[] cut = java.util.Arrays.copyOf(twice, length);
            assertThrows(IOException.class, () -> gunzip(cut), length + " bytes");
        }
        byte[] checksum = packed.clone();
        checksum[packed.length - 7] ^= 1;
        assertThrows(CodecException.class, () -> gunzip(checksum));
        zeros[packed.length + 50_000] = 1;
        assertThrows(CodecException.class, () -> gunzip(zeros));
    }

    private static byte[] gunzip(byte[] packed) throws IOException {
        try (var in = io.penstock.codec.decoder.Gzip.open(new java.io.ByteArrayInputStream(packed))) {
            return in.readAllBytes();
        }
    }
}
