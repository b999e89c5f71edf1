// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.io.DecodeLimit;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files of two parts, cut and damaged at every byte, against what {@code gzip}, {@code zstd}, {@code lz4} and Python
 * make of each ({@code src/test/python/damaged_packed.py}).
 */
class DamagedPackedTest {

    private static final Path FOLDER = Path.of("src/test/resources/packed");
    private static final String FIRST = "the first part: " + "one two three ".repeat(12) + "\n";
    private static final String SECOND = "the second part: " + "a b c d e f ".repeat(14) + "\n";
    private static final Pattern PLACE = Pattern.compile("^(?:gzip|zstd): at byte ([0-9]+)\\b.*"
            + "\\(after ([0-9]+) unpacked bytes\\)$", Pattern.DOTALL);

    /** One damage, and the tools' verdict on it. */
    private record Case(String what, byte[] packed, char verdict) {
    }

    private static List<Case> cases(String name) throws IOException {
        byte[] whole = Files.readAllBytes(FOLDER.resolve(name));
        List<Case> cases = new ArrayList<>();
        for (String line : Files.readAllLines(FOLDER.resolve(name + ".verdicts"))) {
            String kind = line.substring(0, line.indexOf(' '));
            String letters = line.substring(line.indexOf(' ') + 1);
            for (int at = 0; at < letters.length(); at++) {
                byte[] packed = kind.equals("cut") ? Arrays.copyOf(whole, at) : whole.clone();
                if (!kind.equals("cut")) {
                    packed[at] ^= (byte) Integer.parseInt(kind, 16);
                }
                cases.add(new Case(name + " " + kind + " at " + at, packed, letters.charAt(at)));
            }
        }
        cases.add(new Case(name + " as it is", whole, 's'));
        assertTrue(cases.size() > 4 * 100);
        return cases;
    }

    @ParameterizedTest
    @CsvSource({"text.gz, 1", "text.gz, 7", "text.gz, 100000", "text.zst, 1", "text.zst, 7", "text.zst, 100000"})
    void aStreamGivesTheTextOfTheToolsOrNamesTheByte(String name, int readBytes) throws IOException {
        for (Case damaged : cases(name)) {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            try (InputStream in = open(name, new Pieces(damaged.packed, readBytes))) {
                byte[] chunk = new byte[50];
                for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                    text.write(chunk, 0, read);
                }
                assertEquals(damaged.verdict == 's' ? FIRST + SECOND : damaged.verdict == 'p' ? FIRST : "an error",
                        text.toString(UTF_8), damaged.what);
            } catch (CodecException e) {
                assertEquals('e', damaged.verdict, () -> damaged.what + ": " + e.getMessage());
                Matcher place = PLACE.matcher(e.getMessage());
                assertTrue(place.matches(), e.getMessage());
                assertTrue(Long.parseLong(place.group(1)) <= damaged.packed.length, e.getMessage());
                assertTrue(Long.parseLong(place.group(2)) >= text.size(), e.getMessage());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text.gz", "text.zst", "text.lz4"})
    void aWholeBufferIsTheTextOrAnError(String name) throws IOException {
        byte[] expected = (FIRST + SECOND).getBytes(UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(expected.length);
            for (Case damaged : cases(name)) {
                target.fill((byte) 0);
                MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_BYTE, damaged.packed);
                if (damaged.verdict == 's') {
                    decompress(name, source, target);
                    assertArrayEquals(expected, target.toArray(ValueLayout.JAVA_BYTE), damaged.what);
                } else {
                    assertThrows(CodecException.class, () -> decompress(name, source, target), damaged.what);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text.gz", "text.zst", "text.lz4"})
    void aWholeBufferHasTheSizeThatIsTold(String name) throws IOException {
        byte[] packed = Files.readAllBytes(FOLDER.resolve(name));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_BYTE, packed);
            for (int more : new int[] {-1, 1}) {
                MemorySegment target = arena.allocate(FIRST.length() + SECOND.length() + more);
                assertThrows(CodecException.class, () -> decompress(name, source, target));
            }
        }
    }

    @Test
    void aMessageNamesTheByteThatIsWrong() throws IOException {
        byte[] packed = Files.readAllBytes(FOLDER.resolve("text.gz"));
        int second = firstMemberBytes();
        packed[second] ^= 1;
        String message = assertThrows(CodecException.class, () -> Gzip.open(new ByteArrayInputStream(packed))
                .readAllBytes()).getMessage();
        assertEquals("gzip: at byte " + second + ": found the bytes 1e 8b after a member, expected 1f 8b, a member; or"
                + " zeros, or the end (after " + FIRST.length() + " unpacked bytes)", message);
    }

    /** Where the first member ends: the shortest cut that the tools take for whole. */
    private static int firstMemberBytes() throws IOException {
        return cases("text.gz").stream().filter(each -> each.verdict == 'p').findFirst().orElseThrow().packed.length;
    }

    @Test
    void aNameWithoutItsEndIsNotReadForEver() {
        byte[] head = {0x1f, (byte) 0x8b, 8, 8, 0, 0, 0, 0, 0, 0};
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                return 'x';
            }
        };
        assertTrue(assertThrows(CodecException.class, () -> Gzip.open(new SequenceInputStream(
                new ByteArrayInputStream(head), endless)).read()).getMessage().contains("a name of more than 65536"));
    }

    @Test
    void manyMembersOfAnySizeAreReadInPiecesOfAnySize() throws IOException {
        Random random = new Random(5);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (int i = 0; i < 60; i++) {
            byte[] part = new byte[random.nextInt(3) == 0 ? 0 : random.nextInt(300_000)];
            for (int j = 0; j < part.length; j++) {
                part[j] = (byte) random.nextInt(1 + i);
            }
            text.writeBytes(part);
            try (OutputStream out = new GZIPOutputStream(packed)) {
                out.write(part);
            }
        }
        for (int readBytes : new int[] {100, 1 << 16, Integer.MAX_VALUE}) {
            assertArrayEquals(text.toByteArray(),
                    Gzip.open(new Pieces(packed.toByteArray(), readBytes)).readAllBytes());
        }
        MemorySegment target = MemorySegment.ofArray(new byte[text.size()]);
        Gzip.decompress(MemorySegment.ofArray(packed.toByteArray()), target);
        assertArrayEquals(text.toByteArray(), target.toArray(ValueLayout.JAVA_BYTE));
    }

    private static InputStream open(String name, InputStream packed) throws IOException {
        return name.endsWith(".gz") ? Gzip.open(packed) : Zstd.open(packed, DecodeLimit.DEFAULT);
    }

    private static void decompress(String name, MemorySegment source, MemorySegment target) throws IOException {
        if (name.endsWith(".gz")) {
            Gzip.decompress(source, target);
        } else if (name.endsWith(".zst")) {
            Zstd.decompress(source, target);
        } else {
            Lz4.decompress(source, target);
        }
    }

    /** Gives at most so many bytes at a time. */
    private static final class Pieces extends InputStream {

        private final ByteArrayInputStream bytes;
        private final int most;

        Pieces(byte[] bytes, int most) {
            this.bytes = new ByteArrayInputStream(bytes);
            this.most = most;
        }

        @Override
        public int read() {
            return bytes.read();
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            return bytes.read(target, offset, Math.min(most, length));
        }
    }
}
