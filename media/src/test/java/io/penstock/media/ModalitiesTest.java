// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.Collator;
import io.penstock.collate.ModelTokens;
import io.penstock.collate.Ragged;
import io.penstock.collate.Stack;
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.decode.Decoder;
import io.penstock.decode.TokenIds;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.image.ImageFit;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.media.ffmpeg.Ffmpeg;
import io.penstock.memory.DType;
import io.penstock.pictures.ImageDecoder;
import io.penstock.sampling.TokenBudget;
import io.penstock.store.RecordStore;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members of a record, of several modalities, as fields of one batch. */
final class ModalitiesTest {

    private static final List<String> TEXTS = List.of("a dog", "two cats on a mat", "");
    /** A letter is a token: the id of "a" is 97. */
    private static final TokenIds IDS = TokenIds.of("letters", text -> text.chars().toArray());

    @TempDir
    private Path folder;

    private RecordStore shards(String ending, List<byte[]> files, String other, List<byte[]> others)
            throws IOException {
        try (var writer = WebDatasetWriter.create(folder.resolve("s-%04d.tar"), 100, 1 << 30);
                Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < files.size(); i++) {
                writer.write("k" + i, Map.of(ending, inNative(arena, files.get(i)), other,
                        inNative(arena, others.get(i))));
            }
            writer.commit();
        }
        return RecordStore.open(folder);
    }

    private static MemorySegment inNative(Arena arena, byte[] bytes) {
        return arena.allocate(Math.max(1, bytes.length)).asSlice(0, bytes.length)
                .copyFrom(MemorySegment.ofArray(bytes));
    }

    private static List<byte[]> texts(List<String> texts) {
        return texts.stream().map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
    }

    private static byte[] jpeg(int gray) throws IOException {
        var image = new BufferedImage(40, 30, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < 40 * 30; i++) {
            image.setRGB(i % 40, i / 40, gray * 0x010101);
        }
        var out = new ByteArrayOutputStream();
        ImageIO.write(image, "jpg", out);
        return out.toByteArray();
    }

    private static Batch batch(DataLoader loader) {
        return loader.next();
    }

    private static DataLoader loader(Dataset samples, Collator collator) throws IOException {
        return DataLoader.builder(samples).batchSize(3).collator(collator).endEpoch(1).workers(1).open();
    }

    private static int[] ints(Batch batch, String field) {
        return batch.tensor(field).segment().toArray(JAVA_INT_UNALIGNED);
    }

    /** As CLIP takes it: pictures, and captions of at most 77 ids between two special ones, padded. */
    @Test
    void picturesWithCaptions() throws IOException {
        try (RecordStore store = shards("jpg", List.of(jpeg(10), jpeg(100), jpeg(200)), "txt", texts(TEXTS))) {
            Dataset samples = RecordFields.of(store).and("jpg", ImageDecoder.rgb(16, 16))
                    .and("txt", IDS.between(1, 2).atMost(9));
            try (DataLoader loader = loader(samples, StackAndPad.fields()); Batch batch = batch(loader)) {
                assertArrayEquals(new long[] {3, 16, 16, 3}, batch.tensor("jpg").shape());
                for (int i = 0; i < 3; i++) {
                    int gray = batch.tensor("jpg").row(i).segment().get(JAVA_BYTE, 300) & 0xFF;
                    assertEquals(List.of(10, 100, 200).get(i), gray, 2);
                }
                assertArrayEquals(new long[] {3, 9}, batch.tensor("txt").shape());
                assertArrayEquals(new int[] {1, 'a', ' ', 'd', 'o', 'g', 2, 0, 0,
                    1, 't', 'w', 'o', ' ', 'c', 'a', 't', 2, 1, 2, 0, 0, 0, 0, 0, 0, 0}, ints(batch, "txt"));
                assertArrayEquals(new int[] {7, 9, 2}, ints(batch, "txt_lengths"));
            }
            try (DataLoader loader = loader(samples, Ragged.fields()); Batch batch = batch(loader)) {
                assertArrayEquals(new int[] {0, 7, 16, 18}, ints(batch, "txt_offsets"));
                assertArrayEquals(new int[] {1, 'a', ' ', 'd', 'o', 'g', 2, 1, 't', 'w', 'o', ' ', 'c', 'a', 't', 2,
                    1, 2}, ints(batch, "txt"));
                assertEquals(100, batch.tensor("jpg").row(1).segment().get(JAVA_BYTE, 300) & 0xFF, 2);
            }
            try (DataLoader loader = loader(samples, Ragged.cutTo(3)); Batch batch = batch(loader)) {
                assertArrayEquals(new int[] {0, 3, 6, 8}, ints(batch, "txt_offsets"));
                assertArrayEquals(new int[] {1, 'a', ' ', 1, 't', 'w', 1, 2}, ints(batch, "txt"));
            }
        }
    }

    @Test
    void textThatIsNotUtf8IsABadSample() throws IOException {
        byte[] bad = {'a', (byte) 0xFF};
        try (RecordStore store = shards("jpg", List.of(jpeg(1), jpeg(2), jpeg(3)), "txt", List.of(bad, bad, bad));
                DataLoader loader = loader(RecordFields.of(store).and("txt", IDS), Ragged.cutTo(5))) {
            var refusal = assertThrows(RuntimeException.class, loader::next);
            assertTrue(String.valueOf(refusal.getMessage()).contains("not UTF-8"), refusal.toString());
        }
        assertThrows(IllegalArgumentException.class, () -> IDS.between(1, 2).atMost(2));
    }

    /** Speech and its transcript, both as values and offsets. */
    @Test
    void soundWithTranscripts() throws IOException {
        Ffmpeg.assume();
        List<byte[]> sounds = List.of(VideoFixture.resource("flac-s16-16k-mono.flac"),
                VideoFixture.resource("mp3-16k-mono-mpeg2.mp3"), VideoFixture.resource("flac-s16-16k-mono.flac"));
        try (RecordStore store = shards("flac", sounds, "txt", texts(TEXTS))) {
            Dataset samples = RecordFields.of(store).and("flac", SoundDecoder.mono(16_000)).and("txt", IDS);
            try (DataLoader loader = loader(samples, Ragged.fields()); Batch batch = batch(loader)) {
                int[] offsets = ints(batch, "flac_offsets");
                float[] values = batch.tensor("flac").segment().toArray(JAVA_FLOAT_UNALIGNED);
                assertEquals(values.length, offsets[3]);
                for (int i = 0; i < 3; i++) {
                    float[] whole = SoundWindowsTest.whole(inNative(Arena.ofAuto(), sounds.get(i)));
                    assertArrayEquals(whole, Arrays.copyOfRange(values, offsets[i], offsets[i + 1]));
                }
                assertArrayEquals(new int[] {0, 5, 22, 22}, ints(batch, "txt_offsets"));
                assertEquals("a dogtwo cats on a mat", new String(ints(batch, "txt"), 0, 22));
            }
        }
    }

    /** Patches of pictures, frames of sound and ids of text, under one budget, in one slab without padding. */
    @Test
    void oneBudgetOfTokensForThreeModalities() throws IOException {
        Ffmpeg.assume();
        int records = 12;
        byte[] sound = VideoFixture.resource("flac-s16-16k-mono.flac");
        try (var writer = WebDatasetWriter.create(folder.resolve("s-%04d.tar"), 100, 1 << 30);
                Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < records; i++) {
                writer.write("k" + i, Map.of("jpg", inNative(arena, jpeg(20 * i)), "flac", inNative(arena, sound),
                        "txt", inNative(arena, "x".repeat(3 * i).getBytes(StandardCharsets.UTF_8))));
            }
            writer.commit();
        }
        try (RecordStore store = RecordStore.open(folder)) {
            Dataset samples = RecordFields.of(store).and("jpg", ImageDecoder.rgb(28, 42))
                    .and("flac", SoundDecoder.mono(16_000)).and("txt", IDS);
            ModelTokens tokens = ModelTokens.of(samples).each("jpg", 14 * 14 * 3).each("flac", 320).each("txt", 1);
            long soundSamples = SoundWindowsTest.whole(inNative(Arena.ofAuto(), sound)).length;
            long others = 6 + Math.ceilDiv(soundSamples, 320);
            assertEquals(others, tokens.applyAsLong(0));
            assertEquals(others + 33, tokens.applyAsLong(11));
            TokenBudget budget = TokenBudget.sum(4 * others + 20).maxSamples(8);
            List<String> seen = new ArrayList<>();
            try (DataLoader loader = DataLoader.builder(samples).tokenBudget(budget, tokens)
                    .collator(tokens.collator(budget)).endEpoch(1).workers(2).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        int[] flac = ints(batch, "flac_offsets");
                        int[] txt = ints(batch, "txt_offsets");
                        long sum = 0;
                        for (int row = 0; row < batch.count(); row++) {
                            sum += 6 + Math.ceilDiv(flac[row + 1] - flac[row], 320) + txt[row + 1] - txt[row];
                            seen.add((batch.tensor("jpg").row(row).segment().get(JAVA_BYTE, 300) & 0xFF) / 10 + ":"
                                    + (txt[row + 1] - txt[row]));
                        }
                        assertTrue(sum <= budget.tokens(), sum + " tokens");
                        assertTrue(seen.size() == records || sum + others + 33 > budget.tokens(), sum + " tokens");
                    }
                }
                assertTrue(loader.memory().slabBytes() < 4L * (soundSamples + 320) * 6 + (1 << 17),
                        "room for the budget");
            }
            assertEquals(records, seen.size());
        }
    }

    /** Clips, and a number of the JSON beside each. */
    @Test
    void videoWithNumbersOfItsJson() throws IOException {
        Ffmpeg.assume();
        List<byte[]> videos = List.of(VideoFixture.resource("h264-bframes.mp4"), VideoFixture.resource("av1.mp4"),
                VideoFixture.resource("h264-aac.mp4"));
        List<String> json = List.of("{\"label\": 3}", "{\"label\": 1}", "{\"label\": 4}");
        try (RecordStore store = shards("mp4", videos, "json", texts(json));
                ClipDataset clips = Clips.of(RecordFields.of(store).and("mp4")
                        .and("json", Decoder.jsonNumber("label", DType.I64)), "mp4").frames(2).spaced(1)
                        .resize(ImageFit.stretch(24, 24)).open();
                DataLoader loader = loader(clips, Stack.fields()); Batch batch = batch(loader)) {
            assertArrayEquals(new long[] {3, 2, 3, 24, 24}, batch.tensor("mp4").shape());
            assertArrayEquals(new long[] {3, 1, 4}, batch.tensor("json").segment().toArray(JAVA_LONG_UNALIGNED));
        }
    }
}
