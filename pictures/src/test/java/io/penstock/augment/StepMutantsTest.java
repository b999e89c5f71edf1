// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Thorough;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tests of this package see a step that is wrong in one place. */
@Tag("slow")
class StepMutantsTest {

    private static final Path SOURCES = Path.of("pictures/src/main/java/io/penstock/augment");
    private static final String PACKAGE = "io.penstock.augment.";
    private static final String PIXELS = "AugmentVectorsTest.pixelsEqualThoseOfTorchvisionPillowAndOpenCv";
    private static final String FILLED = "StepPropertiesTest.theFillIsAsAPaddingOfThatValue";
    private static final String TARGETS = "TargetsTest.masksBoxesAndKeypointsEqualThoseOfTorchvision";
    private static final String DRAWS = "AugmentDrawsTest.drawsAreThoseOfTheSpecification";
    private static final String NOISE = "AugmentDrawsTest.noiseIsThatOfTheSpecification";
    private static final String FUSED = "FusedTest.pixelsEqualThoseOfTheSpecification";
    private static final String BATCHES = "BatchMixTest.imagesAndSoftLabelsEqualThoseOfTorchvision";
    private static final String LOADED = "BatchMixTest.aBatchIsMixedByTheParametersOfItsFirstPositionInEveryDtype";

    /**
     * A wrong step.
     *
     * @param what is wrong
     * @param type the class
     * @param right what stands in its source, once
     * @param wrong what stands there instead
     * @param test the test that fails
     */
    private record Mutant(String what, String type, String right, String wrong, String test) {
    }

    private static final List<Mutant> MUTANTS = List.of(
            new Mutant("the mean is also of the image before the changes that precede", "Planes",
                    "for (int i = first; i < end; i++) {\n                    change(",
                    "sum += isDone ? 0 : luminance();\n"
                            + "                for (int i = first; i < end; i++) {\n                    change(",
                    PIXELS),
            new Mutant("the contrast's mean is of unrounded luminances", "Planes",
                    "sum += (int) (ColorChanges.RED", "sum += Math.round(ColorChanges.RED", PIXELS),
            new Mutant("a product and a sum are rounded apart", "Planes",
                    "Math.fma(rest, grays[i], values[i] * factor)", "rest * grays[i] + values[i] * factor", PIXELS),
            new Mutant("warped and smoothed values are truncated", "Warp",
                    "return (byte) Float.floatToRawIntBits(value + TO_INTEGER);", "return (byte) (int) value;", PIXELS),
            new Mutant("the border counts as black", "Warp", "value + (1 - covered) * fill", "value", FILLED),
            new Mutant("a perspective is half a pixel off", "Warp", "/ divisors[i] - 0.5f", "/ divisors[i]", PIXELS),
            new Mutant("values of a block are truncated", "Warp", "(int) (sum + TO_INTEGER - TO_INTEGER)", "(int) sum",
                    PIXELS),
            new Mutant("a run inside begins one pixel too early", "Warp", "rows[i] >= 0 && rows",
                    "rows[i] >= -1 && rows", PIXELS),
            new Mutant("what is reduced is read bilinearly only", "Triangle", "Math.max(Math.abs(scale), 1)", "1",
                    FUSED),
            new Mutant("fused steps reduce to the result's resolution", "Resampling", "size * MOST_STEP / step",
                    "size / step", FUSED),
            new Mutant("a part of a file is counted from its own corner", "Resampling",
                    "warp.read(canvas, top, left, inHeight", "warp.read(canvas, 0, 0, inHeight", FUSED),
            new Mutant("a rotation has the other sign", "Affine", "warp(canvas, -values[at]", "warp(canvas, values[at]",
                    PIXELS),
            new Mutant("a rotated box has the other sign", "Affine", "placement.width(), -values[at]",
                    "placement.width(), values[at]", TARGETS),
            new Mutant("a box is flipped about the middle before the crop", "Placement",
                    "height = (int) rows;\n        width = (int) columns;", "height = (int) rows;", TARGETS),
            new Mutant("a box is not cut at the right edge", "TargetWorker",
                    "Math.clamp(right, 0.0, placement.width())", "right", TARGETS),
            new Mutant("points are half a pixel off", "Placement", "m[2] + 0.5", "m[2]", TARGETS),
            new Mutant("a mask is smoothed", "Warp", "interpolation == Interpolation.NEAREST || canvas.isMask();",
                    "interpolation == Interpolation.NEAREST;", TARGETS),
            new Mutant("a crop must be smaller than the image", "RandomResizedCrop", "w > 0 && w <= width",
                    "w > 0 && w < width", DRAWS),
            new Mutant("a blur repeats the outermost pixel", "GaussianBlur", "return i < 0 ? -i :",
                    "return i < 0 ? -i - 1 :", PIXELS),
            new Mutant("a sharpened row is blended with the one above", "ColorChanges",
                    "sharpen(work.row(y % ROWS, rowBytes)", "sharpen(work.row((y + 2) % ROWS, rowBytes)", PIXELS),
            new Mutant("a blur's rows are mirrored one pixel off", "GaussianBlur",
                    "sums[side + rowBytes - (x + 1) * channels + c]", "sums[side + rowBytes - x * channels + c]",
                    PIXELS),
            new Mutant("a chain of AugMix begins where the last one ended", "AugMix", "canvas.recall();", "", PIXELS),
            new Mutant("the sum of AugMix is rounded", "AugMix", "(byte) (int) Math.min(Math.max(sum[i], 0f), 255f)",
                    "io.penstock.augment.step.Warp.rounded(sum[i])", PIXELS),
            new Mutant("a sign is drawn only for an operation that is applied", "Policy",
                    "isNegative = random.nextBoolean()", "isNegative = isApplied && random.nextBoolean()", DRAWS),
            new Mutant("four values of noise have the same draw", "GaussianNoise", "word >>>= DRAW_BITS;", "", NOISE),
            new Mutant("the weights of MixUp are exchanged", "MixRows", "partner[i] * rest + row[i] * weight",
                    "partner[i] * weight + row[i] * rest", BATCHES),
            new Mutant("the partner of the first image is itself", "MixRows",
                    "System.arraycopy(last, 0, partner, 0, values);", "System.arraycopy(row, 0, partner, 0, values);",
                    BATCHES),
            new Mutant("a rectangle is from an image that was cut already", "MixRows",
                    "for (int i = count; i >= 0; i--) {", "for (int i = 0; i <= count; i++) {", BATCHES),
            new Mutant("labels of one class do not add up", "MixRows", "shares[own] += (float) weight;",
                    "shares[own] = (float) weight;", BATCHES),
            new Mutant("a batch draws by its number", "BatchMix", "in.random(plan, STEP)",
                    "in.random(plan, STEP + plan.number())", LOADED));

    @TempDir
    private Path folder;

    @Test
    void everyMutantIsSeen() throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> unseen = new ArrayList<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            for (int i = 0; i < MUTANTS.size(); i++) {
                Mutant mutant = MUTANTS.get(i);
                String source = Files.readString(source(mutant.type));
                assertEquals(2, source.split(Pattern.quote(mutant.right), -1).length, mutant.what);
                if (i % Thorough.times(6, 1) != 0) {
                    continue;
                }
                Path sources = Files.createDirectories(folder.resolve("s" + i));
                Path classes = Files.createDirectories(folder.resolve("c" + i));
                Path changed = Files.writeString(sources.resolve(mutant.type + ".java"),
                        source.replace(mutant.right, mutant.wrong));
                assertTrue(compiler.getTask(null, files, null, List.of("-proc:none", "-nowarn", "-implicit:none", "-d",
                        classes.toString(), "-cp", System.getProperty("java.class.path")), null,
                        files.getJavaFileObjects(changed)).call(), mutant.what);
                if (!fails(mutant, classes)) {
                    unseen.add(mutant.what);
                }
            }
        }
        assertEquals(List.of(), unseen);
    }

    private static Path source(String type) throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.endsWith(type + ".java")).findAny().orElseThrow();
        }
    }

    /** Runs the mutant's test in classes of their own, of which one is the mutant's. */
    private static boolean fails(Mutant mutant, Path classes) throws Exception {
        var loader = new ClassLoader(StepMutantsTest.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.startsWith(PACKAGE)) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : read(name);
            }

            private Class<?> read(String name) throws ClassNotFoundException {
                String path = name.replace('.', '/') + ".class";
                Path changed = classes.resolve(path);
                try (InputStream in = Files.exists(changed) ? Files.newInputStream(changed)
                        : getResourceAsStream(path)) {
                    byte[] bytes = in.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
        String[] names = mutant.test.split("\\.");
        Class<?> tests = Class.forName(PACKAGE + names[0], true, loader);
        Constructor<?> constructor = tests.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method test = tests.getDeclaredMethod(names[1]);
        test.setAccessible(true);
        try {
            test.invoke(constructor.newInstance());
            return false;
        } catch (InvocationTargetException e) {
            return true;
        }
    }
}
