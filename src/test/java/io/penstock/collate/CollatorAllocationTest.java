// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.dataset.AnswerLengths;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.DocumentWindows;
import io.penstock.dataset.Documents;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.SampleGenerator;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.store.IfExists;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import io.penstock.testing.FileTokenStore;
import io.penstock.testing.JavaCommand;
import io.penstock.testing.MemoryTensorStore;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.Plans;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A collator that is warm allocates nothing on the heap, whatever it collates and however it reads. Each scenario runs
 * in a JVM of its own: what the compiler has seen in other tests, whose calls are of many kinds, decides what it
 * inlines.
 */
class CollatorAllocationTest {

    /**
     * The JIT compiler decides when the code is warm: one of this many windows of batches must allocate nothing. What
     * the code itself allocates would be there in all of them.
     */
    private static final int WINDOWS = 1_200;
    private static final int BATCHES = 1_024;
    private static final int BATCH = 8;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    Path folder;

    /** Runs one scenario: its name, and a folder. */
    static void main(String[] args) throws IOException {
        CollatorAllocationTest test = new CollatorAllocationTest();
        test.folder = Path.of(args[1]);
        switch (args[0]) {
            case "typical store" -> test.windowsOfATypicalStore();
            case "several stores" -> test.windowsOfSeveralStores();
            case "generated" -> test.generatedSamplesAndWhatIsDecoratedByAFilterAChoiceAndAConcatenation();
            case "documents" -> test.windowsWithinDocumentsAndDocumentsOfManyLengths();
            case "tensors" -> test.rowsOfTensors();
            case "conversations" -> test.conversationsAndAnswers();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"typical store", "several stores", "generated", "documents", "tensors", "conversations"})
    void aWarmCollatorAllocatesNothing(String scenario) throws IOException, InterruptedException {
        List<String> command = JavaCommand.optimized(JavaCommand.classPath(), "-XX:+UseSerialGC");
        command.addAll(List.of(CollatorAllocationTest.class.getName(), scenario, folder.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains(" bytes in "), output);
    }

    private void windowsOfATypicalStore() throws IOException {
        try (var model = new MemoryTokenStore(DType.U16, 50_001); var store = new FileTokenStore(folder, model)) {
            for (ReadMode mode : ReadMode.values()) {
                for (TokenWidth width : TokenWidth.values()) {
                    check(TokenWindows.of(store, 100), width.windows(), mode);
                }
            }
        }
    }

    private void windowsOfSeveralStores() throws IOException {
        try (var model = new MemoryTokenStore(DType.U16, 50_001); var store = new FileTokenStore(folder, model);
                var other = new MemoryTokenStore(DType.U16, 20_001)) {
            check(TokenWindows.of(store, 100).concat(TokenWindows.of(other, 100)),
                    CausalLm.narrow(), ReadMode.AUTO);
        }
    }

    private void generatedSamplesAndWhatIsDecoratedByAFilterAChoiceAndAConcatenation() {
        List<TensorSpec> fields = List.of(new TensorSpec("a", DType.I64, 20), new TensorSpec("b", DType.U8));
        SampleGenerator index = (sample, _, out) -> out.tensor("a").segment().set(ValueLayout.JAVA_LONG, 0, sample);
        Dataset generated = Dataset.generate(1000, fields, "index", index);
        check(generated, Stack.fields(), ReadMode.AUTO);
        try (var pixels = new MemoryTensorStore(1, new TensorSpec("x", DType.U8, 1000, 100))) {
            Dataset rows = TensorRows.of("x", pixels);
            check(rows.filter("even", sample -> sample.index() % 2 == 0).concat(rows).select(7, 800, 3, 1200),
                    Stack.fields(), ReadMode.AUTO);
        }
    }

    private void windowsWithinDocumentsAndDocumentsOfManyLengths() throws IOException {
        long[] starts = new long[1001];
        for (int d = 0; d < 1000; d++) {
            starts[d + 1] = starts[d] + d * 31 % 150;
        }
        for (DType dtype : new DType[] {DType.U16, DType.I32}) {
            try (var model = new MemoryTokenStore(dtype, starts); var store = new FileTokenStore(folder, model)) {
                for (ReadMode mode : new ReadMode[] {ReadMode.MMAP, ReadMode.PREAD}) {
                    check(DocumentWindows.of(store, 40, 40), CausalLm.widened(DType.I64), mode);
                    check(Documents.of(store), Pad.toLongest(7).toMultipleOf(8), mode);
                    check(Documents.of(store, 64), Pad.toLongest(DType.I64, -100), mode);
                }
            }
        }
    }

    private void conversationsAndAnswers() throws IOException {
        for (TokenContent content : new TokenContent[] {TokenContent.MASKED_TOKENS, TokenContent.ANSWERS}) {
            Path path = folder.resolve(content.fieldName());
            try (MegatronWriter writer = MegatronWriter.create(path, DType.I32, IfExists.FAIL).content(content)) {
                try (MegatronPart part = writer.part()) {
                    for (int d = 0; d < 500; d++) {
                        int[] numbers = new int[5 + d % 40 + d % 17];
                        Arrays.setAll(numbers, i -> i % 5 == 0 ? ~i : i);
                        System.arraycopy(new int[] {2, d % 40, 0, d % 17, 0}, 0, numbers, 0, 5);
                        part.append(numbers, 0, numbers.length);
                        part.endDocument();
                    }
                }
                writer.commit();
            }
            try (TokenStore store = TokenStore.open(path)) {
                Documents documents = Documents.of(store);
                for (TokenWidth width : TokenWidth.values()) {
                    check(documents, content == TokenContent.ANSWERS
                            ? PadAnswers.of(width == TokenWidth.I64 ? DType.I64 : DType.I32, 0,
                                    AnswerLengths.of(documents, 8)) : width.padded(0), ReadMode.MMAP);
                }
            }
        }
    }

    private void rowsOfTensors() {
        try (var store = new MemoryTensorStore(1, new TensorSpec("image", DType.U8, 100, 3, 16, 16),
                new TensorSpec("label", DType.I64, 100))) {
            check(TensorRows.of(store), Stack.fields(), ReadMode.MMAP);
        }
    }

    private void check(Dataset dataset, Collator collator, ReadMode mode) {
        var random = new SplittableRandom(1);
        BatchPlan[] plans = new BatchPlan[64];
        for (int i = 0; i < plans.length; i++) {
            plans[i] = Plans.of(random.longs(BATCH - i % 2, 0, dataset.size()).toArray());
        }
        var layout = collator.layout(dataset, BATCH);
        long thread = Thread.currentThread().threadId();
        long allocated = Long.MAX_VALUE;
        try (var in = new SampleReader(dataset, mode); Arena arena = Arena.ofConfined()) {
            var slab = new Slab(layout, arena.allocate(layout.capacityBytes(), 256));
            for (int window = 0; window < WINDOWS && allocated >= BATCHES; window++) {
                long before = THREADS.getThreadAllocatedBytes(thread);
                for (int i = 0; i < BATCHES; i++) {
                    collator.collate(in, plans[i % plans.length], slab);
                }
                allocated = THREADS.getThreadAllocatedBytes(thread) - before;
            }
        }
        String about = collator + " over " + dataset.fingerprint() + ", " + mode + ": " + allocated + " bytes in "
                + BATCHES + " batches";
        System.out.println(about);
        assertTrue(allocated < BATCHES, about);
    }
}
