// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.AugmentText;
import io.penstock.dataset.TensorRows;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.TensorStore;
import io.penstock.testing.Digests;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AugmentCommandTest {

    private static final int IMAGES = 11;
    private static final int HEIGHT = 24;
    private static final int WIDTH = 30;

    @TempDir
    Path folder;

    /** Images of noise as one array, written as numpy writes it. */
    private Path images() throws IOException {
        Path file = folder.resolve("images.npy");
        byte[] pixels = new byte[IMAGES * HEIGHT * WIDTH * 3];
        new Random(3).nextBytes(pixels);
        String header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + IMAGES + ", " + HEIGHT + ", " + WIDTH
                + ", 3), }";
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0});
            out.write((header + " ".repeat(117 - header.length()) + "\n").getBytes(StandardCharsets.US_ASCII));
            out.write(pixels);
        }
        return file;
    }

    private static List<Map<String, Object>> batches(Object... args) {
        CommandRun run = CommandRun.of(args);
        assertEquals(0, run.exitCode(), run.err());
        return run.out().lines().map(line -> Json.object(Json.parse(line))).toList();
    }

    @Test
    void batchesAreThoseOfALoaderOfTheSamePipeline() throws IOException {
        String steps = "rrc=16,flip,jitter=0.4:0.4:0.4:0.1,normalize=imagenet,to=bf16";
        Path file = images();
        List<Map<String, Object>> found = batches("batches", file, "--batch", 4, "--seed", 9, "--epoch", 1, "--digest",
                "--json", "--augment", steps);
        try (TensorStore store = TensorStore.open(file);
                DataLoader loader = DataLoader.builder(AugmentText.parse(steps).mapped(
                        TensorRows.of("array", store, 0), "array")).batchSize(4).shuffle(9).startEpoch(1).open()) {
            for (Map<String, Object> batch : found) {
                try (Batch expected = loader.next()) {
                    Map<String, Object> field = Json.object(Json.array(batch.get("fields")).getFirst());
                    assertEquals("bf16", field.get("dtype"));
                    assertEquals(List.of((long) expected.count(), 3L, 16L, 16L), field.get("shape"));
                    assertEquals(Digests.of(expected.tensor("array").segment()), field.get("sha256"));
                }
            }
        }
        assertEquals(3, found.size());
    }

    @Test
    void aSheetHasTheSampleAndWhatALoaderMakesOfItInEachEpoch() throws IOException {
        Path file = images();
        Path page = folder.resolve("out.html");
        CommandRun run = CommandRun.of("augment", "show", file, "--sample", 7, "--html", page, "--count", 5,
                "--seed", 9, "--epoch", 2, "--json", "--augment", "rrc=16x20,flip,normalize=imagenet");
        assertEquals(0, run.exitCode(), run.err());
        Map<String, Object> shown = Json.object(Json.parse(run.out()));
        List<Object> pictures = Json.array(shown.get("pictures"));
        assertEquals(5, pictures.size());
        List<BufferedImage> sheet = pictures(page);
        assertEquals(6, sheet.size());
        try (TensorStore store = TensorStore.open(file);
                DataLoader loader = DataLoader.builder(AugmentText.parse("rrc=16x20,flip").mapped(
                        TensorRows.of("array", store, 0), "array")).batchSize(1).shuffle(9).startEpoch(2).open()) {
            assertShows(sheet.getFirst(), store.tensor(0).row(7));
            for (int epoch = 2; epoch < 7; epoch++) {
                for (int position = 0; position < IMAGES; position++) {
                    try (Batch batch = loader.next()) {
                        if (batch.sample(0) == 7) {
                            Map<String, Object> picture = Json.object(pictures.get(epoch - 2));
                            assertEquals((long) epoch, picture.get("epoch"));
                            assertEquals(batch.position(0), picture.get("position"));
                            assertShows(sheet.get(epoch - 1), batch.tensor("array").row(0));
                        }
                    }
                }
            }
        }
    }

    private static void assertShows(BufferedImage shown, Tensor picture) {
        assertEquals(picture.dim(0), shown.getHeight());
        assertEquals(picture.dim(1), shown.getWidth());
        for (int y = 0; y < picture.dim(0); y++) {
            for (int x = 0; x < picture.dim(1); x++) {
                int rgb = 0;
                for (int c = 0; c < 3; c++) {
                    rgb = rgb << 8 | (int) picture.getLong((y * picture.dim(1) + x) * 3 + c);
                }
                assertEquals(rgb, shown.getRGB(x, y) & 0xFFFFFF, x + ", " + y);
            }
        }
    }

    /** The pictures of a page, as the JDK decodes them. */
    private static List<BufferedImage> pictures(Path page) throws IOException {
        List<BufferedImage> pictures = new ArrayList<>();
        Matcher match = Pattern.compile("src=\"data:image/png;base64,([^\"]*)\"").matcher(Files.readString(page));
        while (match.find()) {
            byte[] png = Base64.getDecoder().decode(match.group(1));
            pictures.add(ImageIO.read(new ByteArrayInputStream(png)));
        }
        return pictures;
    }

    @Test
    void grayPicturesAndTransparentOnesAreShownAsTheyAre() throws IOException {
        for (int channels : new int[] {1, 2, 4}) {
            byte[] pixels = new byte[5 * 3 * channels];
            new Random(channels).nextBytes(pixels);
            var sheet = new PictureSheet("a < b");
            sheet.add(Tensor.of(MemorySegment.ofArray(pixels), DType.U8, 5, 3, channels), List.of("a < b"));
            Path page = Files.writeString(folder.resolve("page.html"), sheet.toHtml());
            assertTrue(Files.readString(page).contains("<div>a &lt; b</div>"));
            int[] shown = pictures(page).getFirst().getRaster().getPixels(0, 0, 3, 5, (int[]) null);
            assertArrayEquals(IntStream.range(0, pixels.length).map(i -> pixels[i] & 0xFF).toArray(), shown);
        }
    }

    @Test
    void filesOfImagesNeedNoSizeBeforeTheSteps() throws IOException {
        Path photos = Files.createDirectory(folder.resolve("photos"));
        for (int i = 0; i < 3; i++) {
            BufferedImage photo = new BufferedImage(400 + i, 90, BufferedImage.TYPE_INT_RGB);
            photo.setRGB(0, 0, 400 + i, 90, new Random(i).ints(90L * (400 + i)).toArray(), 0, 400 + i);
            ImageIO.write(photo, "png", photos.resolve(i + ".png").toFile());
        }
        List<Map<String, Object>> found = batches("batches", photos, "--batch", 3, "--json", "--augment",
                "rrc=16,flip");
        assertEquals(List.of(3L, 16L, 16L, 3L),
                Json.object(Json.array(found.getFirst().get("fields")).getFirst()).get("shape"));
        Path page = folder.resolve("out.html");
        CommandRun run = CommandRun.of("augment", "show", photos, "--sample", 2, "--html", page, "--count", 2,
                "--augment", "rrc=16,flip");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(List.of(320, 16, 16), pictures(page).stream().map(BufferedImage::getWidth).toList(),
                "a large sample is shown smaller");
    }

    @Test
    void aStateOfOtherStepsIsRefused() throws IOException {
        Path file = images();
        Path state = folder.resolve("state.json");
        assertEquals(0, CommandRun.of("stream", file, "--batch", 2, "--steps", 2, "--state", state, "--augment",
                "rrc=16,flip=0.5").exitCode());
        assertEquals(0, CommandRun.of("stream", file, "--batch", 2, "--steps", 2, "--state", state, "--augment",
                "randomResizedCrop=16x16,flip", "--workers", 0).exitCode());
        CommandRun other = CommandRun.of("stream", file, "--batch", 2, "--steps", 2, "--state", state, "--augment",
                "rrc=16,flip=0.4");
        assertEquals(ExitCode.BAD_INPUT, other.exitCode(), other.err());
    }

    @Test
    void stepsMayComeFromAFileAndAreReported() throws IOException {
        Path steps = Files.writeString(folder.resolve("steps.json"),
                "{\"steps\": [{\"step\": \"randomResizedCrop\", \"size\": 16}, {\"step\": \"horizontalFlip\"}]}");
        CommandRun run = CommandRun.of("stream", images(), "--batch", 2, "--steps", 2, "--json", "--augment",
                "@" + steps);
        assertEquals(0, run.exitCode(), run.err());
        Map<String, Object> result = Json.object(Json.parse(run.out()));
        assertEquals("rrc=16,flip", result.get("augment"));
        assertEquals(List.of("array: u8[16,16,3]"), result.get("fields"));
        assertEquals(Set.of("randomResizedCrop", "horizontalFlip"), Json.object(result.get("sample_ms")).keySet());
    }

    @Test
    void copiesAreThoseOfTheEpochsOfARunWithoutShuffling() throws IOException {
        Path file = images();
        Path copies = folder.resolve("copies.npy");
        CommandRun run = CommandRun.of("convert", file, copies, "--augment", "rrc=16,flip", "--copies", 3, "--seed", 5);
        assertEquals(0, run.exitCode(), run.err());
        try (TensorStore store = TensorStore.open(file); TensorStore written = TensorStore.open(copies);
                DataLoader loader = DataLoader.builder(AugmentText.parse("rrc=16,flip").mapped(
                        TensorRows.of("array", store, 0), "array")).batchSize(IMAGES).seed(5).endEpoch(3).open()) {
            assertEquals(3 * IMAGES, written.tensors().getFirst().dim(0));
            for (int copy = 0; copy < 3; copy++) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < IMAGES; row++) {
                        assertEquals(Digests.of(batch.tensor("array").row(row).segment()),
                                Digests.of(written.tensor(0).row((long) copy * IMAGES + row).segment()));
                    }
                }
            }
        }
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("convert", file, folder.resolve("x.npy"), "--copies", 3)
                .exitCode());
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("convert", file, folder.resolve("x.npy"), "--augment", "flip",
                "--copies", 0).exitCode());
    }

    @Test
    void wrongStepsAndFieldsAreWrongUsage() throws IOException {
        Path file = images();
        CommandRun misspelled = CommandRun.of("batches", file, "--augment", "rrc=16,flap");
        assertEquals(ExitCode.WRONG_USAGE, misspelled.exitCode());
        assertTrue(misspelled.err().contains("--augment: at character 8: found 'flap', did you mean 'flip'?"),
                misspelled.err());
        CommandRun noField = CommandRun.of("batches", file, "--augment", "flip", "--augment-field", "mask");
        assertTrue(noField.err().contains("no field 'mask'"), noField.err());
        CommandRun large = CommandRun.of("batches", file, "--augment", "center=99");
        assertTrue(large.err().contains("--augment: array: a crop of 99 x 99 of images of 24 x 30"), large.err());
        CommandRun sample = CommandRun.of("augment", "show", file, "--html", folder.resolve("x.html"), "--sample", 11);
        assertTrue(sample.err().contains("--sample: found 11, expected 0 to 10"), sample.err());
        assertEquals(ExitCode.WRONG_USAGE, sample.exitCode());
    }

    @Test
    void theListHasEveryStep() {
        CommandRun run = CommandRun.of("augment", "list");
        assertEquals(0, run.exitCode(), run.err());
        AugmentText.forms().forEach(form -> assertTrue(run.out().contains(form + "\n") || run.out().contains(form
                + "    (" + form.name() + ")\n"), form::toString));
        assertEquals(AugmentText.forms().size(),
                Json.array(Json.parse(CommandRun.of("augment", "list", "--json").out())).size());
    }
}
