// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.TensorRows;
import io.penstock.error.MalformedStoreException;
import io.penstock.image.AffineRanges;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.Range;
import io.penstock.image.StepForm;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.MemoryTensorStore;
import io.penstock.transform.ImageTransform.Layout;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AugmentTextTest {

    @TempDir
    Path folder;

    /** What a saved state compares: it has all settings of all steps. */
    private static String fingerprint(Augment pipeline) {
        try (MemoryTensorStore store = new MemoryTensorStore(1, new TensorSpec("image", DType.U8, 2, 64, 48, 3))) {
            return pipeline.mapped(TensorRows.of("image", store, 0), "image").fingerprint();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "rrc=224,flip,jitter=0.4:0.4:0.4:0.1", "rrc=16x12:0.2..1", "resize=16", "resize=20x16",
        "rrc=8:0.1..0.5:1..2", "center=8x4", "crop=14x10:2:reflect", "crop=32:4", "crop=8:fill=3", "vflip=0.25",
        "rotate=30:bilinear:7", "rotate=12.5", "affine=10:0.1:0.2:0.8..1.2:5:-5..10:bilinear:3",
        "affine=-5..15:shearY=4", "jitter=hue=0.1", "jitter=0.8..1.1:2", "gray", "gray=0.2", "invert", "posterize=4",
        "posterize=4:0.3", "solarize=128", "autocontrast", "equalize=1", "sharpness=2", "sharpness=0.5:0.1", "erase",
        "erase=0.25:value=128", "erase=0.5", "ra", "ra=3:5:bilinear", "ra=0",
        "ra=5:interpolation=bilinear", "ta=bilinear", "flip,flip",
        "resize=16:bicubic", "resize=20x16:box", "pad=2", "pad=2:reflect", "perspective", "perspective=0.2:fill=9",
        "gamma", "gamma=0.5..2:0.1", "bc", "bc=0.1:0.4:0.9", "blur=5", "blur=3:1", "blur=3:0.5..1", "noise",
        "noise=0.05..0.2", "aa", "aa=cifar10", "augmix", "augmix=5:interpolation=nearest", "normalize=imagenet",
        "rrc=8,normalize=0.5/0.5/0.5:0.25/0.25/0.25,to=bf16", "normalize=imagenet,to=f32:nhwc", "to=f16",
        "fused,rrc=16x12,flip,rotate=15:bilinear,jitter=0.4", "flip,fused,crop=8:2:fill=3,gray", "fused",
        "name=\"view, b\",flip", "name=\"a=\\\"b\""})
    void aTextIsReadAndWrittenExactly(String text) {
        Augment pipeline = AugmentText.parse(text);
        String written = AugmentText.of(pipeline);
        assertEquals(text.equals("erase=0.5") ? "erase" : text, written);
        assertEquals(fingerprint(pipeline), fingerprint(AugmentText.parse(written)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"decode,rrc=8", "decode=gray,rrc=8", "decode=rgba:upright,flip",
        "decode=orientation=upright", "decode=gray:detail=scaled,rrc=8,to=f16",
        "name=\"b\",decode=gray:upright:scaled"})
    void theDecodingOfFilesIsReadAndWritten(String text) {
        Augment pipeline = AugmentText.parse(text);
        assertEquals(text, AugmentText.of(pipeline));
        assertEquals(String.valueOf(pipeline.pipeline().decoding()),
                String.valueOf(AugmentText.parse(text).pipeline().decoding()));
    }

    @Test
    void aPipelineIsTheOneThatTheBuilderMakes() {
        Augment built = Augment.images().randomResizedCrop(16, 12).horizontalFlip(0.5).verticalFlip(0.5)
                .colorJitter(0.4, 0.4, 0.4, 0.1).grayscale(0.1).invert(0.5).posterize(4, 0.5).solarize(128, 0.5)
                .autocontrast(0.5).equalize(0.5).sharpness(2, 0.5).rotate(30, Interpolation.NEAREST, 0)
                .affine(AffineRanges.degrees(10).translate(0.2, 0.1).scale(0.8, 1.2).shear(5, 6),
                        Interpolation.NEAREST, 0)
                .randAugment().trivialAugmentWide(Interpolation.NEAREST)
                .randomCrop(14, 10, Padding.of(2, Padding.Mode.REFLECT)).randomErasing(0.5).resize(12, 12).resize(8)
                .centerCrop(6, 7).normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
                .to(DType.BF16, Layout.NCHW);
        Augment parsed = AugmentText.parse("""
                randomResizedCrop=16x12, FLIP, vflip, jitter=0.4:0.4:0.4:0.1, gray, invert, posterize=4,
                solarize = 128, autocontrast, equalize, sharpness=2, rotate=30,
                affine=10 : 0.2 : 0.1 : 0.8..1.2 : 5 : 6, ra, ta, crop=14x10:2:REFLECT, erase, resize=12x12, resize=8,
                center=6x7, normalize=imagenet, to=bf16
                """);
        assertEquals(built.toString(), parsed.toString());
        assertEquals(fingerprint(built), fingerprint(parsed));
    }

    @Test
    void everyMethodOfTheBuilderHasAStepAndOnlyThose() {
        Set<String> methods = Arrays.stream(Augment.class.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()) && method.getReturnType() == Augment.class)
                .map(Method::getName).filter(name -> !name.equals("named"))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(methods, AugmentText.forms().stream().map(StepForm::name)
                .collect(Collectors.toCollection(TreeSet::new)));
        Set<String> names = AugmentText.forms().stream().map(StepForm::shortName).collect(Collectors.toSet());
        assertEquals(methods.size(), names.size());
    }

    @Test
    void anyRangesAreReadAndWrittenExactly() {
        Random random = new Random(7);
        for (int i = 0; i < 500; i++) {
            double low = random.nextDouble() * Math.pow(10, random.nextInt(-6, 2));
            Range range = Range.of(low, low + random.nextDouble());
            double x = random.nextInt(2) == 0 ? random.nextDouble() : random.nextInt(200) / 100.0;
            Augment pipeline = Augment.images()
                    .randomResizedCrop(1 + random.nextInt(9), 1 + random.nextInt(9), range, range)
                    .colorJitter(x, x / 3, x * 3, x / 4)
                    .colorJitter(range, range, range, Range.of(-x / 4, 0))
                    .affine(new AffineRanges(Range.of(-low, x), x / 2, 0, range, Range.of(0, 0), Range.of(-x, x)),
                            Interpolation.BILINEAR, random.nextInt(256))
                    .brightnessContrast(x / 3, x, x / 5).brightnessContrast(low, low / 7, 1)
                    .rotate(low, Interpolation.NEAREST, 0).randomErasing(x / 2, range, range, random.nextInt(256));
            String text = AugmentText.of(pipeline);
            assertEquals(pipeline.toString(), AugmentText.parse(text).toString(), text);
        }
    }

    @Test
    void anyTextIsAPipelineThatIsWrittenAndReadAgainOrAnError() {
        String seed = "name=\"v\\u0041\",rrc=224:scale=0.2..1,flip,jitter=0.4:hue=-0.1..0.2,crop=8x4:2:reflect,"
                + "affine=10:0.1:shearY=3,erase=value=7,normalize=0.5/0.5/0.5:1/1/1,to=f16:nhwc";
        String letters = "=:,.x/\"\\ 019-eanrt";
        Random random = new Random(11);
        int read = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(seed);
            for (int edits = random.nextInt(1, 4); edits > 0; edits--) {
                int at = random.nextInt(text.length());
                switch (random.nextInt(3)) {
                    case 0 -> text.deleteCharAt(at);
                    case 1 -> text.insert(at, letters.charAt(random.nextInt(letters.length())));
                    default -> text.delete(at, Math.min(text.length(), at + random.nextInt(20)));
                }
            }
            try {
                Augment pipeline = AugmentText.parse(text.toString());
                String written = AugmentText.of(pipeline);
                assertEquals(pipeline.toString(), AugmentText.parse(written).toString(), written);
                assertEquals(written, AugmentText.of(AugmentText.parse(written)));
                read++;
            } catch (IllegalArgumentException e) {
                assertTrue(e.getMessage().startsWith("at character "), e.getMessage());
            }
        }
        assertTrue(read > 1_000, "read " + read);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "rrc=224,jiter=0.4 | at character 9: found 'jiter', did you mean 'jitter'? The steps are decode, fused, rrc,",
        "RandomHorizontalFlip | at character 1: found 'RandomHorizontalFlip', did you mean 'horizontalFlip'?",
        "flip,,rrc=8 | at character 6: found nothing, expected one of decode, fused, rrc,",
        "flip, | at character 6: found nothing, expected one of",
        "xyzzy | at character 1: found 'xyzzy', expected one of decode,",
        "rrc | at character 1: rrc: size: found nothing, expected a size such as 224, or 192x256 for height and width",
        "rrc=22x | at character 5: rrc: size: found '22x', expected a size such as 224",
        "flip, rrc=8:scale=0.2 | at character 19: rrc: scale: found '0.2', expected a range such as 0.2..1",
        "flip=0.5:1 | at character 10: flip: found '1', expected at most 1 values: flip=[p=0.5]",
        "erase=p=0.1:3 | at character 13: erase: found '3', expected the name of a parameter and '='",
        "erase=q=0.1 | at character 7: erase: found no parameter 'q', expected one of [p, scale, ratio, value]",
        "erase=0.1:p=0.2 | at character 13: erase: found two values of p",
        "flip=2 | at character 1: flip: probability 2.0, expected 0 to 1",
        "flip=1f | at character 6: flip: p: found '1f', expected a probability from 0 to 1",
        "rotate=10:cubic | at character 11: rotate: interpolation: found 'cubic', expected one of nearest, bilinear",
        "to=f32,flip | at character 8: flip: horizontalFlip(p 0.5) after normalize or to",
        "normalize=0.5/0.5/0.5 | at character 1: normalize: deviation: found nothing, expected a number per channel",
        "to=i8 | at character 4: to: dtype: found 'i8', expected one of f32, f16, bf16",
        "name=\"a\"b,flip | at character 6: name: found characters after the quoted name, expected a comma"})
    void anErrorNamesTheCharacterTheStepAndWhatIsExpected(String text, String message) {
        String found = assertThrows(IllegalArgumentException.class, () -> AugmentText.parse(text)).getMessage();
        assertEquals(message, found.substring(0, Math.min(found.length(), message.length())));
    }

    @Test
    void aFileHasTheSameStepsByTheirFullNames() throws IOException {
        Path file = Files.writeString(folder.resolve("train.json"), """
                {"name": "view b", "steps": [
                  {"step": "randomResizedCrop", "size": [16, 12], "scale": [0.2, 1]},
                  {"step": "horizontalFlip"},
                  {"step": "colorJitter", "brightness": 0.4, "hue": "-0.1..0.2"},
                  {"step": "posterize", "bits": 4, "p": 0.25},
                  {"step": "normalize", "mean": [0.5, 0.5, 0.5], "deviation": [0.25, 0.25, 0.25]},
                  {"step": "to", "dtype": "bf16", "layout": "nhwc"}]}
                """);
        assertEquals("name=\"view b\",rrc=16x12:0.2..1,flip,jitter=0.4:hue=-0.1..0.2,posterize=4:0.25,"
                + "normalize=0.5/0.5/0.5:0.25/0.25/0.25,to=bf16:nhwc", AugmentText.of(AugmentText.read(file)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "{\"steps\": [{\"step\": \"flip\"}, {\"step\": \"rot\"}]} | steps[1].step: found 'rot', expected one of",
        "{\"steps\": [{\"step\": \"rotate\"}]} | steps[0]: rotate: degrees: found nothing, expected a number",
        "{\"steps\": [{\"step\": \"rotate\", \"degrees\": 9, \"angle\": 3}]} | steps[0]: found 'angle', expected",
        "{\"steps\": [{\"step\": \"flip\", \"p\": [1, 2]}]} | steps[0]: horizontalFlip: p: found 'an array', expected",
        "{\"step\": []} | steps: found nothing, expected an array"})
    void anErrorInAFileNamesTheFileAndTheField(String json, String message) throws IOException {
        Path file = Files.writeString(folder.resolve("train.json"), json);
        String found = assertThrows(MalformedStoreException.class, () -> AugmentText.read(file)).getMessage();
        assertTrue(found.contains("train.json") && found.contains(message), found);
    }
}
