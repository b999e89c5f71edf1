// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.SPARSE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingRegistry;
import io.penstock.error.MalformedStoreException;
import io.penstock.testing.Thorough;
import io.penstock.text.Utf8;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Our tokenizer beside jtokkit's, which reads the same ranks. {@code -Dtokenizer.texts=10000000} compares more. */
class BytePairTokenizerTest {

    private static final String END = "<|endoftext|>";
    /** Reads each encoding once. */
    private static final EncodingRegistry REFERENCES = Encodings.newLazyEncodingRegistry();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base"})
    void hasTheIdsOfJtokkitForRandomText(String encoding) {
        compare(encoding, 1_000, 1);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "p50k_base", "cl100k_base", "o200k_base"})
    void hasTheIdsOfJtokkitForManyRandomTexts(String encoding) {
        compare(encoding, Thorough.times("tokenizer.texts", 6_000, 50_000), 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "p50k_base", "cl100k_base", "o200k_base"})
    void hasTheIdsOfJtokkitForScriptsCodeAndTheExampleCorpus(String encoding) throws IOException {
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        Encoding reference = reference(encoding);
        for (String sample : GeneratedText.SAMPLES) {
            same(reference, tokenizer, sample, encoding);
            same(reference, tokenizer, (sample + ' ').repeat(40), encoding);
        }
        try (Stream<Path> files = Files.list(Path.of("examples/corpus"))) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                same(reference, tokenizer, Files.readString(file), file.toString());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "cl100k_base", "o200k_base"})
    void hasTheIdsOfJtokkitForCharactersBesideALetterADigitAndASpace(String encoding) {
        compareCharacters(encoding, 61);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "cl100k_base", "o200k_base"})
    void hasTheIdsOfJtokkitForEveryCharacterBesideALetterADigitAndASpace(String encoding) {
        compareCharacters(encoding, 1);
    }

    private static void compareCharacters(String encoding, int step) {
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        Encoding reference = reference(encoding);
        StringBuilder text = new StringBuilder();
        for (int character = 0; character <= Character.MAX_CODE_POINT; character += character < 0x3000 ? 1 : step) {
            if (character < 0xD800 || character > 0xDFFF) {
                text.append('x').appendCodePoint(character).append("X1").appendCodePoint(character).append(' ');
            }
            if (text.length() > 4000) {
                same(reference, tokenizer, text.toString(), "characters to " + character);
                text.setLength(0);
            }
        }
    }

    /** The memory of pieces is full of others, and pieces of each length around the limits come again. */
    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "cl100k_base", "o200k_base"})
    void hasTheIdsOfJtokkitForPiecesOfEveryLength(String encoding) {
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        Encoding reference = reference(encoding);
        Random random = new Random(3);
        for (int length = 1; length < 300; length += length < 20 || length > 50 && length < 64 ? 1 : 7) {
            for (String alphabet : List.of("abcdefghijklmnopqrstuvwxyz", "aA", "жукти", "你好吗", " ", "=-", "07")) {
                StringBuilder word = new StringBuilder();
                for (int i = 0; i < length; i++) {
                    word.append(alphabet.charAt(random.nextInt(alphabet.length())));
                }
                String text = word + " " + word + "\n" + word;
                same(reference, tokenizer, text, "length " + length);
                same(reference, tokenizer, text, "again length " + length);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "cl100k_base", "o200k_base"})
    void mergesManyBytesWithoutAWordsEndInFewSteps(String encoding) throws IOException {
        merge(encoding, 1 << 16);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "cl100k_base", "o200k_base"})
    void mergesAMillionBytesWithoutAWordsEndInFewSteps(String encoding) throws IOException {
        merge(encoding, 1 << 20);
    }

    private static void merge(String encoding, int bytes) throws IOException {
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        PieceEncoder encoder = encoder(encoding);
        TokenBuffer ids = new TokenBuffer();
        int units = 0;
        for (String unit : List.of("a", " ", "\n", "!", "7", "你", "aB", "e\u0301", "\u0301", "ab", "A\u0301b",
                "\r\n ")) {
            byte[] utf8 = unit.repeat(bytes / unit.getBytes(UTF_8).length).getBytes(UTF_8);
            long before = encoder.longMergeSteps();
            ids.clear();
            encoder.encode(utf8, 0, utf8.length, ids);
            assertArrayEquals(utf8, tokenizer.decode(ids.toArray()));
            // n merges at most, each with a removal and two additions, of at most log2(2n) comparisons
            long steps = encoder.longMergeSteps() - before;
            assertTrue(steps <= 3L * 21 * utf8.length, () -> unit + ": " + steps);
            units += steps > utf8.length ? 1 : 0;
        }
        assertTrue(units >= 5, "only " + units + " were long pieces");
    }

    @Test
    void makesNoObjectForAPiece() {
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Tokenizer tokenizer = Corpora.tokenizer("gpt2");
        MemorySegment text = segment(String.join("\n", GeneratedText.SAMPLES).repeat(20));
        TokenBuffer ids = new TokenBuffer();
        tokenizer.encode(text, SpecialText.ORDINARY, ids);
        int tokens = ids.size();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 10; i++) {
            ids.clear();
            tokenizer.encode(text, SpecialText.ORDINARY, ids);
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertEquals(tokens, ids.size());
        assertTrue(allocated < tokens, () -> allocated + " bytes for " + 10 * tokens + " tokens");
    }

    @Test
    void mergesALongPieceAsItsTokensSay() {
        Tokenizer tokenizer = Corpora.tokenizer("gpt2");
        Encoding reference = reference("gpt2");
        Random random = new Random(4);
        for (int length : new int[] {129, 1000, 4097, 20_000}) {
            StringBuilder word = new StringBuilder();
            random.ints(length, 0, 5).forEach(i -> word.append("etaon".charAt(i)));
            same(reference, tokenizer, word.toString(), "length " + length);
            same(reference, tokenizer, "a".repeat(length), "letters " + length);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "cl100k_base", "o200k_base"})
    void takesIllFormedUtf8AsTheReplacementCharacter(String encoding) {
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        Random random = new Random(5);
        TokenBuffer ids = new TokenBuffer();
        for (int i = 0; i < 3_000; i++) {
            byte[] bytes = GeneratedText.next(random).getBytes(UTF_8);
            for (int changes = 1 + random.nextInt(3); changes > 0 && bytes.length > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
            ids.clear();
            tokenizer.encode(MemorySegment.ofArray(bytes), SpecialText.ORDINARY, ids);
            assertArrayEquals(tokenizer.encode(replaced(bytes)), ids.toArray());
        }
        for (int[] bytes : new int[][] {{0xC0, 0x80}, {0xED, 0xA0, 0x80}, {0xF4, 0x90, 0x80, 0x80}, {0xE2, 0x82},
            {0xF8}, {0x80}, {0xE0, 0x9F, 0xBF}, {0xF0, 0x8F, 0xBF, 0xBF}, {0xF5, 0x80, 0x80, 0x80}}) {
            byte[] text = new byte[bytes.length];
            IntStream.range(0, bytes.length).forEach(i -> text[i] = (byte) bytes[i]);
            assertEquals(0, Utf8.firstIllFormed(text, 0, text.length));
            ids.clear();
            tokenizer.encode(MemorySegment.ofArray(text), SpecialText.ORDINARY, ids);
            assertEquals(replaced(text), new String(tokenizer.decode(ids.toArray()), UTF_8));
        }
    }

    /** What {@code bytes.decode(errors="replace")} of Python 3.11 gives. */
    @ParameterizedTest
    @CsvSource({"ED A0 80, 3", "ED A0, 2", "ED, 1", "ED BF BF 41, 3", "ED A0 41, 2", "ED A0 BD ED B8 80, 6",
        "ED 9F C0, 2", "E2 82, 1", "E2 82 ED B0 80, 4", "F0 9F 98, 1", "F4 90 80 80, 4", "E0 9F BF, 3", "C0 80, 2",
        "F0 9F ED A0 80, 4", "61 80 ED AF 62 ED 9F BF, 3"})
    void replacesAsManyCharactersAsPython(String hex, int count) {
        Tokenizer tokenizer = Corpora.tokenizer("gpt2");
        TokenBuffer ids = new TokenBuffer();
        byte[] bytes = HexFormat.ofDelimiter(" ").parseHex(hex);
        tokenizer.encode(MemorySegment.ofArray(bytes), SpecialText.ORDINARY, ids);
        String text = new String(tokenizer.decode(ids.toArray()), UTF_8);
        assertEquals(count, text.chars().filter(c -> c == 0xFFFD).count(), text);
        assertEquals(text, replaced(bytes));
    }

    /** Replaces each maximal subpart of an ill-formed sequence, by table 3-7 of the Unicode Standard. */
    private static String replaced(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < bytes.length; ) {
            int lead = bytes[at] & 0xFF;
            int wanted = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
            int length = 1;
            while (length < wanted && at + length < bytes.length) {
                int least = length > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
                int most = length > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
                int next = bytes[at + length] & 0xFF;
                if (next < least || next > most) {
                    break;
                }
                length++;
            }
            text.append(length == wanted ? new String(bytes, at, length, UTF_8) : "\uFFFD");
            at += length;
        }
        return text.toString();
    }

    @Test
    void findsTheFirstIllFormedSequenceWhereTheDecoderDoes() {
        Random random = new Random(6);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = GeneratedText.next(random).getBytes(UTF_8);
            if (bytes.length > 0 && random.nextBoolean()) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            ByteBuffer in = ByteBuffer.wrap(bytes);
            boolean isWell = !UTF_8.newDecoder().decode(in, CharBuffer.allocate(bytes.length), true).isError();
            assertEquals(isWell ? -1 : in.position(), Utf8.firstIllFormed(bytes, 0, bytes.length));
        }
    }

    @Test
    void encodesTheSameFromNativeMemoryAndFromTheMiddleOfAnArray() {
        Tokenizer tokenizer = Corpora.tokenizer("o200k_base");
        byte[] text = String.join("\n", GeneratedText.SAMPLES).getBytes(UTF_8);
        byte[] wider = new byte[text.length + 20];
        Arrays.fill(wider, (byte) 0xE4);
        System.arraycopy(text, 0, wider, 7, text.length);
        int[] expected = tokenizer.encode(new String(text, UTF_8));
        TokenBuffer ids = new TokenBuffer();
        ids.append(42);
        tokenizer.encode(MemorySegment.ofArray(wider).asSlice(7, text.length), SpecialText.ORDINARY, ids);
        assertEquals(42, ids.get(0));
        assertArrayEquals(expected, Arrays.copyOfRange(ids.toArray(), 1, ids.size()));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(text.length);
            memory.copyFrom(MemorySegment.ofArray(text));
            ids.clear();
            tokenizer.encode(memory, SpecialText.ORDINARY, ids);
            assertArrayEquals(expected, ids.toArray());
            ids.clear();
            tokenizer.encode(memory.asReadOnly(), SpecialText.ORDINARY, ids);
            assertArrayEquals(expected, ids.toArray());
        }
        assertThrows(IndexOutOfBoundsException.class, () -> ids.get(ids.size()));
    }

    @Test
    void refusesATextThatIsTooLongForAnArray() throws IOException {
        Path file = folder.resolve("sparse");
        try (FileChannel channel = FileChannel.open(file, CREATE_NEW, READ, WRITE, SPARSE);
                Arena arena = Arena.ofConfined()) {
            MemorySegment text = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1L << 31, arena);
            Exception e = assertThrows(IllegalArgumentException.class,
                    () -> Corpora.tokenizer("gpt2").encode(text, SpecialText.ORDINARY, new TokenBuffer()));
            assertEquals("text: found 2147483648 bytes, expected at most 2147483639", e.getMessage());
        }
    }

    @Test
    void allowsForbidsOrIgnoresSpecialTokens() {
        Tokenizer tokenizer = Corpora.tokenizer("cl100k_base");
        MemorySegment text = segment("one<|endoftext|><|fim_prefix|> two<|endoftext|");
        TokenBuffer ids = new TokenBuffer();
        tokenizer.encode(text, SpecialText.ALLOWED, ids);
        int[] expected = Stream.of(tokenizer.encode("one"), new int[] {100257, 100258},
                tokenizer.encode(" two<|endoftext|")).flatMapToInt(IntStream::of).toArray();
        assertArrayEquals(expected, ids.toArray());
        assertEquals("one<|endoftext|><|fim_prefix|> two<|endoftext|", new String(tokenizer.decode(expected), UTF_8));
        Exception e = assertThrows(IllegalArgumentException.class,
                () -> tokenizer.encode(text, SpecialText.FORBIDDEN, ids));
        assertEquals("at byte 3: found the special token '<|endoftext|>', expected plain text", e.getMessage());
        assertArrayEquals(expected, ids.toArray());
        ids.clear();
        tokenizer.encode(segment("one<|endoftext|"), SpecialText.FORBIDDEN, ids);
        assertArrayEquals(tokenizer.encode("one<|endoftext|"), ids.toArray());
        assertEquals(100276, tokenizer.specialTokens().get("<|endofprompt|>"));
    }

    @Test
    void refusesToDecodeAnIdWithoutAToken() {
        Tokenizer tokenizer = Corpora.tokenizer("cl100k_base");
        for (int id : new int[] {-1, 100_256, 100_270, 100_277, Integer.MAX_VALUE}) {
            Exception e = assertThrows(IllegalArgumentException.class, () -> tokenizer.decode(id));
            assertEquals("cl100k_base: found token id " + id + ", expected one of a token", e.getMessage());
        }
    }

    @Test
    void readsRanksFromAFile() throws IOException {
        Path file = folder.resolve("small.tiktoken");
        Files.writeString(file, ranks("ab", "abc", "bc", " a"));
        Tokenizer tokenizer = Tokenizer.of(file, TextSplit.CL100K, Map.of(END, 300, "<|pad|>", 301), END);
        assertEquals("small.tiktoken", tokenizer.name());
        assertEquals(302, tokenizer.vocabularySize());
        assertEquals(300, tokenizer.endOfText());
        assertArrayEquals(new int[] {257, 259, 'c', 258}, tokenizer.encode("abc acbc"));
        assertEquals("abc<|pad|>", new String(tokenizer.decode(257, 301), UTF_8));
    }

    @Test
    void refusesAFileThatIsNoVocabulary() throws IOException {
        String good = ranks("ab");
        refuses(good + "YWI= 700\n", "found the token of rank 256 again as rank 700");
        refuses(good + "YWJj 256\n", "at line 258: found rank 256 again");
        refuses(good + "YWJj\n", "at line 258: expected a token of 1 to 1024 bytes in base 64, a space and its"
                + " rank, at most 2097151");
        refuses(good + "YWJj 9999999999\n", "at line 258: expected a token");
        refuses(good + "?? 700\n", "at line 258: expected a token");
        refuses(good + "YWJj".repeat(342) + " 700\n", "at line 258: expected a token");
        refuses(good.substring(good.indexOf('\n') + 1), "found no token for byte 0, expected one for each byte");
        Path file = folder.resolve("v");
        Files.writeString(file, good);
        for (Map<String, Integer> special : List.of(Map.of("<|x|>", 700), Map.of(END, 256), Map.of(END, -1),
                Map.of(END, 300, "<|x|>", 300), Map.of(END, 300, "", 301))) {
            assertThrows(IllegalArgumentException.class, () -> Tokenizer.of(file, TextSplit.GPT2, special, END));
        }
    }

    @Test
    void encodesOnSeveralThreadsAtOnce() {
        Tokenizer tokenizer = Corpora.tokenizer("gpt2");
        List<int[]> expected = GeneratedText.SAMPLES.stream().map(tokenizer::encode).toList();
        IntStream.range(0, 2000).parallel().forEach(i -> {
            int sample = i % expected.size();
            assertArrayEquals(expected.get(sample), tokenizer.encode(GeneratedText.SAMPLES.get(sample)));
        });
    }

    private static void compare(String encoding, int texts, long seed) {
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        Encoding reference = reference(encoding);
        Random random = new Random(seed);
        for (int i = 0; i < texts; i++) {
            same(reference, tokenizer, GeneratedText.next(random), encoding);
        }
    }

    private static void same(Encoding reference, Tokenizer tokenizer, String text, String what) {
        int[] ids = tokenizer.encode(text);
        if (!Arrays.equals(reference.encodeOrdinary(text).toArray(), ids)) {
            assertArrayEquals(reference.encodeOrdinary(text).toArray(), ids, () -> what + ": " + escaped(text));
        }
        if (!Arrays.equals(text.getBytes(UTF_8), tokenizer.decode(ids))) {
            assertEquals(text, new String(tokenizer.decode(ids), UTF_8), () -> what + ": " + escaped(text));
        }
    }

    private static Encoding reference(String encoding) {
        return REFERENCES.getEncoding(encoding.equals("gpt2") ? "r50k_base" : encoding).orElseThrow();
    }

    private static PieceEncoder encoder(String encoding) {
        TextSplit split = encoding.equals("gpt2") ? TextSplit.GPT2
                : encoding.equals("cl100k_base") ? TextSplit.CL100K : TextSplit.O200K;
        String ranks = encoding.equals("gpt2") ? "r50k_base" : encoding;
        try (var in = Encodings.class.getResourceAsStream("/com/knuddels/jtokkit/" + ranks + ".tiktoken")) {
            return new PieceEncoder(Vocabulary.read(in, ranks), split);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MemorySegment segment(String text) {
        return MemorySegment.ofArray(text.getBytes(UTF_8));
    }

    /** All bytes, each with its value as its rank, and more tokens after them. */
    private static String ranks(String... more) {
        StringBuilder lines = new StringBuilder();
        for (int value = 0; value < 256; value++) {
            lines.append(Base64.getEncoder().encodeToString(new byte[] {(byte) value})).append(' ').append(value)
                    .append('\n');
        }
        for (int i = 0; i < more.length; i++) {
            lines.append(Base64.getEncoder().encodeToString(more[i].getBytes(UTF_8))).append(' ').append(256 + i)
                    .append("\r\n");
        }
        return lines.toString();
    }

    private void refuses(String content, String problem) throws IOException {
        Path file = folder.resolve("bad");
        Files.writeString(file, content);
        Exception e = assertThrows(MalformedStoreException.class,
                () -> Tokenizer.of(file, TextSplit.GPT2, Map.of(END, 700), END));
        assertTrue(e.getMessage().startsWith(file + ": " + problem), e.getMessage());
    }

    private static String escaped(String text) {
        StringBuilder escaped = new StringBuilder();
        text.chars().forEach(c -> escaped.append(c >= ' ' && c < 127 ? (char) c : String.format("\\u%04x", c)));
        return escaped.toString();
    }
}
