// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.NativeLibrary;
import io.penstock.testing.Thorough;
import io.penstock.transform.Experiment;
import io.penstock.transform.NativeLab;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The experiments see a kernel that is wrong in one place. */
@Tag("slow")
class AugmentMutantsTest {

    private static final Path SOURCES = Path.of("src/main/native");

    /** By what is wrong: what stands in the source, and what a mutant has there. */
    private static final Map<String, List<String>> MUTANTS = new LinkedHashMap<>();

    static {
        MUTANTS.put("warped values are truncated", List.of("(int) rintf(values[c]", "(int) (values[c]"));
        MUTANTS.put("a rotation has the other sign", List.of("affine(to, op, -real(", "affine(to, op, real("));
        MUTANTS.put("a flip is about the source's middle",
                List.of("op.width - 1 - p.x_offset", "a.ops[0].width - 1 - p.x_offset"));
        MUTANTS.put("a flip beside a border is about the source's middle",
                List.of("op.width - 1 - x : x", "a.ops[0].width - 1 - x : x"));
        MUTANTS.put("a crop is moved the wrong way when it is flipped",
                List.of("p.x_offset += left_of(a, row, k)", "p.x_offset += p.x_factor * left_of(a, row, k)"));
        MUTANTS.put("the contrast does not wait for brightness",
                List.of("if (op.kind == JITTER) {\n                return;", "if (op.kind == JITTER) {\n"
                        + "                continue;"));
        MUTANTS.put("a product and a sum are rounded apart",
                List.of("fused(rest, luminance, (float) p.v[c] * factor)",
                        "rest * luminance + (float) p.v[c] * factor"));
        MUTANTS.put("a resize is half a pixel off", List.of("(i + 0.5) * scale", "i * scale"));
        MUTANTS.put("a resize does not round",
                List.of("return WEIGHT_HALF; });\n    ROLLED", "return 0; });\n    ROLLED"));
        MUTANTS.put("all images have the parameters of the first",
                List.of("at<const uint8_t>(a.table) + image * a.row_bytes", "at<const uint8_t>(a.table) + image * 0"));
        MUTANTS.put("all images have the tables of the first",
                List.of("+ image.number * (TABLES * TABLE_VALUES)", "+ 0"));
        MUTANTS.put("an erased rectangle is a row longer", List.of("y < r.top + r.height", "y <= r.top + r.height"));
        MUTANTS.put("the border counts as black", List.of("(1 - covered) * (float) op.fill", "0.0f"));
        MUTANTS.put("a perspective is half a pixel off",
                List.of("column / divisor - 0.5f;\n        line", "column / divisor;\n        line"));
        MUTANTS.put("a perspective's corners exchange their sides", List.of("right - whole(moves, 4)", "right - y1"));
        MUTANTS.put("a blur repeats the outermost pixel",
                List.of("op.height, PAD_REFLECT", "op.height, PAD_SYMMETRIC"));
        MUTANTS.put("a blur's rows are mirrored one pixel off",
                List.of("op.width, PAD_REFLECT", "op.width, PAD_SYMMETRIC"));
        MUTANTS.put("all images are smoothed by the weights of the first",
                List.of("at<float>(a.weights) + image *", "at<float>(a.weights) + 0 *"));
        MUTANTS.put("noise of four values has one draw", List.of(">> (first + c) % 4 * 16", ">> 0"));
        MUTANTS.put("noise is drawn by the place in the source",
                List.of("(uint64_t) y * op.width", "(uint64_t) y * a.ops[0].width"));
        MUTANTS.put("the exponential function ends early", List.of("int n = 13", "int n = 3"));
        MUTANTS.put("a curve's values are rounded", List.of("truncated((float) y * TO_U8)",
                "(int) rintf((float) y * 255.0f)"));
        MUTANTS.put("all chains of AugMix are the first", List.of("chains + i * stride", "chains + 0 * stride"));
        MUTANTS.put("the sum of AugMix is rounded", List.of("return truncated(sums[c])",
                "return (int) rintf(clamped(sums[c], 255.0f))"));
        MUTANTS.put("a cubic has no negative weights", List.of("x - 4) * -0.5 : 0", "x - 4) * 0 : 0"));
        MUTANTS.put("the outermost pixels are sharpened", List.of("sharpens && y > 0", "sharpens && y > 1"));
    }

    @TempDir
    private Path folder;

    @Test
    void everyMutantIsSeen() throws Exception {
        try (Stream<Path> files = Files.list(SOURCES)) {
            for (Path file : files.toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
        Path kernels = Files.writeString(folder.resolve("mutants.cu"),
                "#include \"images.cu\"\n#include \"augment.cu\"\n");
        int number = 0;
        for (Map.Entry<String, List<String>> mutant : MUTANTS.entrySet()) {
            String right = mutant.getValue().getFirst();
            List<Path> with = new ArrayList<>();
            for (Path file : List.of(folder.resolve("augment.cu"), folder.resolve("weights.cuh"))) {
                for (int i = 1; i < Files.readString(file).split(Pattern.quote(right), -1).length; i++) {
                    with.add(file);
                }
            }
            assertEquals(1, with.size(), () -> mutant.getKey() + ": in " + with);
            if (number++ % Thorough.times(8, 1) != 0) {
                continue;
            }
            String source = Files.readString(with.getFirst());
            Files.writeString(with.getFirst(), source.replace(right, mutant.getValue().getLast()));
            Path library = NativeLibrary.compileCpp(folder.resolve(number + ".so").toAbsolutePath(),
                    kernels, "-O0", "-Wno-error");
            assertTrue(isSeen(library), mutant.getKey());
            Files.writeString(with.getFirst(), source);
        }
    }

    private static boolean isSeen(Path library) {
        for (Experiment experiment : new AugmentExperiments(1).all()) {
            try (var lab = new NativeLab(library, 1)) {
                experiment.verify(lab);
            } catch (AssertionError e) {
                return true;
            }
        }
        return false;
    }
}
