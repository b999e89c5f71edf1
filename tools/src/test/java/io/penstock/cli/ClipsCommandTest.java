// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.media.ClipIndex;
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
}
