// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.testing.NativeLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a tool in C is told of a loader, attached as NVTX attaches one; in a JVM of its own, as that happens once. */
class NvtxTest {

    @TempDir
    static Path folder;
    private static Path tool;

    @BeforeAll
    static void compileTool() throws IOException, InterruptedException {
        tool = NativeLibrary.compileC(
                folder.resolve("libnvtx_recorder.so"), Path.of("src/test/native/nvtx_recorder.c"));
    }

    private static List<String> calls(String variable) throws IOException, InterruptedException {
        Path record = folder.resolve("calls-" + variable + ".txt");
        ChildJvm.Result result = new ChildJvm().variable("NVTX_INJECTION64_PATH", tool)
                .variable("NVTX_RECORD", record).variable(variable, 1).run(NvtxProgram.class);
        assertEquals(0, result.exitCode(), result.output());
        List<String> calls = Files.readAllLines(record);
        assertEquals("attached", calls.removeFirst());
        return calls;
    }

    private static void checkRanges(List<String> calls) {
        Map<String, List<Integer>> numbers = new HashMap<>();
        Map<String, List<String>> nested = new HashMap<>();
        List<String> open = new ArrayList<>();
        for (String call : calls) {
            String[] words = call.split(" ");
            assertEquals("penstock", words[1], call);
            switch (words[0]) {
                case "push", "start" -> {
                    numbers.computeIfAbsent(words[2], _ -> new ArrayList<>()).add(Integer.parseInt(words[3]));
                    assertTrue(call.contains("version 3 size 48 payload 1"), call);
                    if (words[0].equals("push")) {
                        nested.computeIfAbsent(words[5], _ -> new ArrayList<>()).add(words[2]);
                    } else {
                        open.add(words[13]);
                    }
                }
                case "pop" -> nested.get(words[3]).removeLast();
                case "end" -> assertTrue(open.remove(words[3]), call);
                default -> throw new AssertionError(call);
            }
        }
        List<Integer> all = List.of(0, 1, 2, 3, 4, 5);
        assertEquals(all, numbers.get("next"));
        assertEquals(all, numbers.get("copy"));
        assertEquals(all, numbers.get("hold"));
        assertEquals(all, numbers.get("make").stream().sorted().toList());
        assertEquals(List.of(), open, "what was started and not ended");
        assertTrue(nested.values().stream().allMatch(List::isEmpty), "what was pushed and not popped: " + nested);
        assertTrue(nested.size() >= 2, "workers and trainer are threads of their own: " + nested);
    }

    @Test
    void eachBatchHasItsRanges() throws IOException, InterruptedException {
        checkRanges(calls("NVTX_RECORD_ALL"));
    }

    @Test
    void aToolThatRegistersNoNamesGetsThemWithEachRange() throws IOException, InterruptedException {
        checkRanges(calls("NVTX_RECORD_NO_STRINGS"));
    }

    @Test
    void withoutAToolNothingIsLost() throws IOException, InterruptedException {
        ChildJvm.Result none = new ChildJvm().run(NvtxProgram.class);
        assertEquals("trained\n", none.output());
    }

    @Test
    void aToolThatCannotBeAttachedIsNamedAndLeftOut() throws IOException, InterruptedException {
        ChildJvm.Result missing = new ChildJvm().variable("NVTX_INJECTION64_PATH", folder.resolve("none.so"))
                .run(NvtxProgram.class);
        assertEquals(0, missing.exitCode(), missing.output());
        assertTrue(missing.output().contains("none.so") && missing.output().contains("trained"), missing.output());
        ChildJvm.Result refusing = new ChildJvm().variable("NVTX_INJECTION64_PATH", tool)
                .run(NvtxProgram.class);
        assertTrue(refusing.output().contains("the tool refused") && refusing.output().contains("trained"),
                refusing.output());
    }
}
