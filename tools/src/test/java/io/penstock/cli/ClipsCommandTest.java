// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.decode.Decoder;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.media.ClipIndex;
import io.penstock.media.SoundDecoder;
import io.penstock.media.sound.FixedLength;
import io.penstock.media.sound.LogMel;
import io.penstock.media.sound.SoundSteps;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.pictures.ImageDecoder;
import io.penstock.store.RecordStore;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ClipsCommandTest {

    private static final Path MEDIA = Path.of("media/src/test/resources/media");

    @TempDir
    private Path folder;

    @BeforeAll
    static void needsFfmpeg() {
        String err = CommandRun.of("clips", "digest", MEDIA.resolve("h264-bframes.mp4")).err();
        Assumptions.assumeFalse(err.contains("which was not found"), err);
    }

    @Test
    void aDigestHasTheFramesOfTheProgram() throws IOException {
        String[] expected = Files.readAllLines(MEDIA.resolve("video.tsv")).stream()
                .filter(line -> line.startsWith("hevc-opengop.mp4\t")).findFirst().orElseThrow().split("\t");
        Map<String, Object> all = CommandRun.of("clips", "digest", MEDIA.resolve("hevc-opengop.mp4")).json();
        Map<String, Object> video = Json.object(all.get("video"));
        assertEquals(expected[2], video.get("codec"));
        assertEquals(List.of(expected[11].split(",")), video.get("frame_md5"));
        assertEquals(0L, video.get("errors"));
    }

    /** SHA-256 of {@code ffmpeg -i FILE -f f32le -}. */
    @Test
    void aDigestHasTheSamplesOfTheProgram() {
        Map<String, Object> sound = Json.object(
                CommandRun.of("clips", "digest", MEDIA.resolve("flac-s16-44k-stereo.ogg")).json().get("audio"));
        assertEquals(44100L, sound.get("rate"));
        assertEquals(2L, sound.get("channels"));
        assertEquals(17640L, sound.get("frames"));
        assertEquals("614f0b80843d1d2764460c197f769d7e6db083d59e89cf11b3b03298c9eead14", sound.get("f32_sha256"));
    }

    @Test
    void aFileThatIsNoMediaIsBadInput() throws IOException {
        Path file = Files.writeString(folder.resolve("notes.mp4"), "no video at all");
        CommandRun run = CommandRun.of("clips", "digest", file);
        assertEquals(3, run.exitCode(), run.err());
        assertTrue(run.err().contains("notes.mp4: video: a file that cannot be opened"), run.err());
    }

    @Test
    void anIndexHasEachVideoOrItsReason() throws IOException {
        Path store = Files.createDirectory(folder.resolve("videos"));
        for (String name : List.of("av1.mp4", "bad-truncated-nomoov.mp4", "h264-bframes.mp4")) {
            Files.copy(MEDIA.resolve(name), store.resolve(name));
        }
        CommandRun run = CommandRun.of("clips", "index", store, "--json");
        assertEquals(3, run.exitCode(), run.err());
        Map<String, Object> one = Json.object(Json.array(Json.parse(run.out())).getFirst());
        assertEquals(3L, one.get("videos"));
        assertEquals(108L, one.get("frames"));
        assertEquals(1, Json.array(one.get("bad")).size());
        try (ClipIndex index = ClipIndex.open(folder.resolve("videos.clips"))) {
            assertEquals(48, index.frames(0));
            assertTrue(index.refusal(1).isPresent());
        }
        CommandRun again = CommandRun.of("clips", "index", store);
        assertTrue(again.err().contains("--force"), again.err());
        Path alone = folder.resolve("alone.clips");
        CommandRun isolated = CommandRun.of("clips", "index", store, "--isolated", "-o", alone);
        assertEquals(3, isolated.exitCode(), isolated.err());
        assertEquals(-1, Files.mismatch(folder.resolve("videos.clips"), alone), "in processes of their own");
        assertEquals(3, CommandRun.of("clips", "index", store, "--force").exitCode());
    }

    /** One key, then 90 frames: ffprobe -show_packets counts the keys of the video in each file. */
    @Test
    void aShownClipHasItsFramesItsWaveformAndAHint() throws IOException {
        Path store = Files.createDirectory(folder.resolve("shown"));
        Files.copy(MEDIA.resolve("h264-aac.mp4"), store.resolve("a.mp4"));
        Path page = folder.resolve("clip.html");
        CommandRun run = CommandRun.of("clips", "show", store, "--frames", "4", "--seconds", "0.5", "--html", page);
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("packets decoded for 4 frames"), run.out());
        String html = Files.readString(page);
        assertTrue(html.contains("data:image/png;base64,"), "frames");
        assertTrue(html.contains("<path d=\"M0 "), "a waveform");
        byte[] png = Base64.getDecoder().decode(html.replaceAll("(?s)^.*base64,([^\"]*)\".*$", "$1"));
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
        assertEquals(List.of(160, 160), List.of(image.getWidth(), image.getHeight()));
        assertEquals(4, html.split("<figcaption>", -1).length - 1);
        CommandRun far = CommandRun.of("clips", "show", store, "--sample", "7");
        assertTrue(far.err().contains("found 1 records, expected more than 7"), far.err());
    }

    @Test
    void anIndexOfSoundHasItsSamples() throws IOException {
        Path store = Files.createDirectory(folder.resolve("sounds"));
        Files.copy(MEDIA.resolve("flac-s16-16k-mono.flac"), store.resolve("a.flac"));
        Map<String, Object> one = Json.object(Json.array(Json.parse(
                CommandRun.of("clips", "index", store, "--json").out())).getFirst());
        assertEquals(16_000L, one.get("sound_samples"));
        Path page = folder.resolve("sound.html");
        CommandRun run = CommandRun.of("clips", "show", store, "--seconds", "0.25", "--html", page);
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(Files.readString(page).contains("channel 0"), "a waveform");
    }

    /** The frames of the file itself come out: of JPEG nearly, as arrays exactly. */
    @Test
    void framesBecomeJpegFilesOrArraysAndAStoppedRunGoesOn() throws IOException {
        Path store = Files.createDirectory(folder.resolve("films"));
        Files.copy(MEDIA.resolve("h264-bframes.mp4"), store.resolve("a.mp4"));
        Files.copy(MEDIA.resolve("av1.mp4"), store.resolve("b.mp4"));
        Path arrays = folder.resolve("arrays");
        CommandRun run = CommandRun.of("clips", "frames", store, arrays, "--as", "npy", "--count", "4", "--clips", "3",
                "--size", "32x48", "--samples", "4", "--json");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(6L, Json.object(Json.parse(run.out())).get("samples"));
        Path pictures = folder.resolve("pictures");
        CommandRun jpeg = CommandRun.of("clips", "frames", store, pictures, "--count", "4", "--clips", "3", "--size",
                "32x48", "--samples", "4");
        assertEquals(0, jpeg.exitCode(), jpeg.err());
        assertTrue(jpeg.out().contains("6 samples"), jpeg.out());
        try (RecordStore exact = RecordStore.open(arrays); RecordStore near = RecordStore.open(pictures)) {
            assertEquals(6, exact.size());
            double difference = 0;
            try (DataLoader loader = DataLoader.builder(RecordFields.of(near).and("002.jpg",
                    ImageDecoder.rgb(32, 48))).batchSize(1).endEpoch(1).open();
                    DataLoader whole = DataLoader.builder(RecordFields.of(exact).and(exact.columns().getFirst().name(),
                            Decoder.npy(DType.U8, 4, 3, 32, 48))).batchSize(1).endEpoch(1).open()) {
                while (loader.hasNext()) {
                    try (Batch a = loader.next(); Batch b = whole.next()) {
                        Tensor picture = a.tensor("002.jpg");
                        Tensor frame = b.tensor(b.fields().getFirst().name()).row(0).row(2);
                        for (int i = 0; i < 32 * 48; i++) {
                            for (int channel = 0; channel < 3; channel++) {
                                difference += Math.abs((picture.segment().get(JAVA_BYTE, 3 * i + channel) & 0xFF)
                                        - (frame.segment().get(JAVA_BYTE, 32 * 48 * channel + i) & 0xFF));
                            }
                        }
                    }
                }
            }
            assertTrue(difference / (6 * 3 * 32 * 48) < 12, difference + " over all");
        }
        Files.delete(arrays.resolve("shard-000001.tar"));
        CommandRun again = CommandRun.of("clips", "frames", store, arrays, "--as", "npy", "--count", "4", "--clips",
                "3", "--size", "32x48", "--samples", "4");
        assertTrue(again.out().contains("2 samples in 1 new file") || again.out().contains("2 samples in 2 new files"),
                again.out() + again.err());
        CommandRun other = CommandRun.of("clips", "frames", store, arrays, "--as", "npy", "--count", "5");
        assertTrue(other.err().contains("another conversion"), other.err());
        assertTrue(CommandRun.of("clips", "frames", store, pictures, "--as", "gif").err().contains("jpg or npy"));
    }

    @Test
    void soundBecomesLogMelWithItsText() throws IOException {
        Path store = Files.createDirectory(folder.resolve("speech"));
        Files.copy(MEDIA.resolve("flac-s16-16k-mono.flac"), store.resolve("a.flac"));
        Path mel = folder.resolve("mel");
        CommandRun run = CommandRun.of("clips", "mel", store, mel, "--seconds", "2");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("1 sample in "), run.out());
        try (RecordStore made = RecordStore.open(mel)) {
            String column = made.columns().getFirst().name();
            float[] written = values(RecordFields.of(made).and(column, Decoder.npy(DType.F32, 80, 200)), column);
            try (RecordStore sounds = RecordStore.open(store)) {
                String file = sounds.columns().getFirst().name();
                float[] direct = values(SoundSteps.of(FixedLength.of(32_000), LogMel.whisper(80)).map(
                        RecordFields.of(sounds).and(file, SoundDecoder.mono(16_000)), file), file);
                assertArrayEquals(direct, written);
            }
        }
    }

    private static float[] values(Dataset samples, String name) {
        try (DataLoader loader = DataLoader.builder(samples).batchSize(1).endEpoch(1).open();
                Batch batch = loader.next()) {
            return batch.tensor(name).segment().toArray(JAVA_FLOAT_UNALIGNED);
        }
    }
}
