// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.Kernel;
import io.penstock.memory.DType;
import io.penstock.testing.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The layouts of kernels' arguments are the structs of their sources, as a compiler lays these out. */
class KernelArgumentsTest {
    /** Those of the engine's transforms. */
    static final List<Kernel> KERNELS = List.of(
            CastTransform.KERNEL, CausalLmTransform.KERNEL, DocumentTransform.DOCUMENTS, DocumentTransform.STARTS,
            ImageTransform.KERNEL, PackedKernels.PACKED, PackedKernels.ATTENTION);

    @TempDir
    private Path folder;

    List<Kernel> kernels() {
        return KERNELS;
    }

    @Test
    void kernelsHaveALayoutOfTheirStructsName() throws IOException {
        Map<String, String> found = structs();
        found.keySet().retainAll(kernels().stream().map(Kernel::name).toList());
        assertEquals(found, layouts(kernels()));
    }

    static Map<String, String> layouts(List<Kernel> kernels) {
        Map<String, String> layouts = new TreeMap<>();
        kernels.forEach(known -> layouts.put(known.name(), known.layout().name().orElseThrow()));
        return layouts;
    }

    /** The kernels of the sources, each with the name of the struct that it takes. */
    static Map<String, String> structs() throws IOException {
        Map<String, String> found = new TreeMap<>();
        Pattern kernel = Pattern.compile("^KERNEL\\((\\w+), (\\w+)\\)", Pattern.MULTILINE);
        try (Stream<Path> files = Files.list(NativeLab.SOURCES)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".cu")).toList()) {
                Matcher match = kernel.matcher(Files.readString(file));
                while (match.find()) {
                    found.put(match.group(1), match.group(2));
                }
            }
        }
        return found;
    }

    @Test
    void offsetsAndSizesAreTheCompilers() throws Exception {
        List<String> questions = new ArrayList<>();
        List<Long> answers = new ArrayList<>();
        for (Kernel kernel : kernels()) {
            String struct = kernel.layout().name().orElseThrow();
            questions.add("sizeof(" + struct + ")");
            answers.add(kernel.layout().byteSize());
            ask(struct, "", kernel.layout(), 0, questions, answers);
        }
        assertEquals(pairs(questions, answers), pairs(questions, compiled(questions)));
    }

    @Test
    void dtypesHaveTheNumbersOfTheEnum() throws Exception {
        List<String> questions = Stream.of(DType.values()).map(DType::name).toList();
        List<Long> answers = Stream.of(DType.values()).map(dtype -> (long) dtype.ordinal()).toList();
        assertEquals(pairs(questions, answers), pairs(questions, compiled(questions)));
    }

    /** Each member's offset and size, those of structs within included. */
    private static void ask(
            String struct, String path, GroupLayout layout, long base, List<String> questions, List<Long> answers) {
        for (MemoryLayout member : layout.memberLayouts()) {
            String name = path + member.name().orElseThrow();
            long offset = base + layout.byteOffset(PathElement.groupElement(member.name().orElseThrow()));
            questions.add("offsetof(" + struct + ", " + name + ")");
            answers.add(offset);
            questions.add("sizeof(((" + struct + " *) 0)->" + name + ")");
            answers.add(member.byteSize());
            if (member instanceof GroupLayout group) {
                ask(struct, name + ".", group, offset, questions, answers);
            }
        }
    }

    private static List<String> pairs(List<String> questions, List<Long> answers) {
        List<String> pairs = new ArrayList<>();
        for (int i = 0; i < questions.size(); i++) {
            pairs.add(questions.get(i) + " = " + answers.get(i));
        }
        return pairs;
    }

    /** The values that C++ expressions have behind the kernels' source. */
    @SuppressWarnings("restricted")
    private List<Long> compiled(List<String> expressions) throws Exception {
        Path source = Files.writeString(folder.resolve("layouts.cpp"), "#include \"kernels.cu\"\n#include <stddef.h>\n"
                + "extern \"C\" const int64_t values[] = {\n    (int64_t) ("
                + String.join("),\n    (int64_t) (", expressions) + ")\n};\n");
        Path library = NativeLibrary.compileCpp(folder.resolve("layouts.so"), source,
                "-O0", "-I" + NativeLab.SOURCES.toAbsolutePath());
        try (Arena arena = Arena.ofConfined()) {
            long[] values = SymbolLookup.libraryLookup(library, arena).findOrThrow("values")
                    .reinterpret((long) expressions.size() * Long.BYTES).toArray(ValueLayout.JAVA_LONG);
            return LongStream.of(values).boxed().toList();
        }
    }
}
