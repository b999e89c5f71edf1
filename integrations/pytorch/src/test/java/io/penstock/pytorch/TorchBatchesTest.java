// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.bridge.Samples;
import io.penstock.dataset.Dataset;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LeaseMode;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.CastTransform;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Batches as torch's tensors: what the contracts of all bridges do not say. */
class TorchBatchesTest {

    private static final int WARM_UP = 20_000;

    private static DataLoader rows(LeaseMode leases) {
        return DataLoader.builder(Samples.rows(1000, 4)).batchSize(2).prefetch(2).workers(1).leases(leases).open();
    }

    private static Dataset tokens(DType dtype) {
        List<TensorSpec> fields = List.of(new TensorSpec("input_ids", dtype, 64), new TensorSpec("labels", dtype, 64),
                new TensorSpec("position_ids", dtype, 64), new TensorSpec("document_ids", dtype, 64));
        return Dataset.generate(4096, fields, "tokens", (sample, _, out) -> fields.forEach(
                field -> out.tensor(field.name()).segment().set(ValueLayout.JAVA_BYTE, 0, (byte) sample)));
    }

    // ---- memory

    @Test
    void whatIsWrittenInTheSlotIsSeenByTorchAndTheOtherWayRound() {
        try (DataLoader loader = rows(LeaseMode.CONFINED); TorchBatch batch = TorchBatches.of(loader).next()) {
            Tensor row = batch.get("row");
            batch.batch().tensor("row").segment().setAtIndex(ValueLayout.JAVA_FLOAT, 5, 42);
            assertEquals(42, row.data_ptr_float().get(5));
            row.fill_(new org.bytedeco.pytorch.Scalar(7));
            assertEquals(7, batch.batch().tensor("row").segment().getAtIndex(ValueLayout.JAVA_FLOAT, 0));
        }
    }

    @Test
    void whatIsDoneToATensorIsNotSeenInTheNextBatch() {
        try (DataLoader loader = rows(LeaseMode.REUSED)) {
            TorchBatches batches = TorchBatches.of(loader);
            for (int i = 0; i < 4 * loader.memory().hostSlots(); i++) {
                try (TorchBatch batch = batches.next()) {
                    Tensor row = batch.get("row");
                    assertArrayEquals(new long[] {2, 4}, row.shape());
                    assertFalse(row.requires_grad());
                    row.set_requires_grad(true);
                    batch.get("id").unsqueeze_(0);
                }
            }
        }
    }

    /** The bound is for four fields. */
    @Test
    void aBatchOfReusedLeasesTakesFewBytesOfHeap() {
        var thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (DataLoader loader = DataLoader.builder(tokens(DType.I64)).batchSize(4).leases(LeaseMode.REUSED).open()) {
            TorchBatches batches = TorchBatches.of(loader);
            run(batches, WARM_UP);
            long before = thread.getCurrentThreadAllocatedBytes();
            run(batches, WARM_UP);
            long bytes = (thread.getCurrentThreadAllocatedBytes() - before) / WARM_UP;
            System.out.println(bytes + " bytes of heap a batch of four fields");
            assertTrue(bytes <= 300, bytes + " bytes a batch");
        }
    }

    private static void run(TorchBatches batches, int steps) {
        for (int i = 0; i < steps; i++) {
            try (TorchBatch batch = batches.next()) {
                batch.indices("input_ids");
                batch.indices("labels");
            }
        }
    }

    // ---- lifetime

    @ParameterizedTest
    @EnumSource(LeaseMode.class)
    void aTensorOfAClosedBatchHasNoAddress(LeaseMode leases) {
        try (DataLoader loader = rows(leases)) {
            TorchBatch batch = TorchBatches.of(loader).next();
            Tensor row = batch.get("row");
            batch.close();
            batch.close();
            assertTrue(row.isNull());
            assertThrows(NullPointerException.class, row::sum);
            assertThrows(NullPointerException.class, () -> torch.add(row, row));
            assertThrows(IllegalStateException.class, () -> batch.get("row"));
            assertThrows(IllegalStateException.class, batch::batch);
        }
    }

    @Test
    void aViewOfAClosedBatchThrowsAndNamesTheLoader() {
        try (DataLoader loader = DataLoader.builder(Samples.rows(100, 4)).batchSize(2).name("training").open();
                PointerScope _ = new PointerScope()) {
            TorchBatch batch = TorchBatches.of(loader).next();
            List<Tensor> views = List.of(batch.get("row").t(), batch.get("row").view(-1), batch.get("row").detach(),
                    batch.get("row").select(0, 1), new Tensor(batch.get("row")));
            Tensor clone = batch.get("row").clone();
            batch.close();
            for (Tensor view : views) {
                String message = assertThrows(RuntimeException.class, view::sum).getMessage();
                assertTrue(message.contains("the batch of loader 'training' that this tensor views is closed"),
                        message);
            }
            assertEquals(0 + 1 + 2 + 3 + 1 + 2 + 3 + 4, clone.sum().item_float());
        }
    }

    @Test
    void aBackwardBehindTheBatchIsAnErrorAndNoGradientOfOtherSamples() {
        try (DataLoader loader = rows(LeaseMode.REUSED); PointerScope _ = new PointerScope()) {
            TorchBatches batches = TorchBatches.of(loader);
            Tensor weight = torch.ones(4).set_requires_grad(true);
            Tensor loss;
            try (TorchBatch batch = batches.next()) {
                loss = torch.mul(batch.get("row"), weight).sum();
            }
            batches.next().close();
            assertThrows(RuntimeException.class, loss::backward);
            try (TorchBatch batch = batches.next()) {
                torch.mul(batch.get("row"), weight).sum().backward();
            }
        }
    }

    /** The trap of scopes: they free what is made in them, also what is to be kept, but for a batch's tensors. */
    @Test
    void aScopeLeavesTheBatchesTensorsAlone() {
        try (DataLoader loader = rows(LeaseMode.CONFINED)) {
            TorchBatch batch;
            Tensor row;
            Tensor lost;
            Tensor kept;
            try (PointerScope _ = new PointerScope()) {
                batch = TorchBatches.of(loader).next();
                row = batch.get("row");
                lost = row.sum();
                kept = row.sum().retainReference();
                row.close();                                        // does nothing
            }
            assertTrue(lost.isNull());
            assertEquals(16, row.sum().item_float());
            assertEquals(16, kept.item_float());
            kept.releaseReference();
            batch.close();
        }
    }

    /** Temporaries that nobody closes are freed by a scope: no byte and no pointer stays behind. */
    @Test
    void aScopeAStepLeavesNoTensorBehind() {
        try (DataLoader loader = rows(LeaseMode.REUSED)) {
            TorchBatches batches = TorchBatches.of(loader);
            Tensor weight = torch.ones(4).set_requires_grad(true);
            step(batches, weight);
            System.gc();
            long count = Pointer.totalCount();
            for (int i = 0; i < 2000; i++) {
                step(batches, weight);
            }
            assertTrue(Pointer.totalCount() <= count, Pointer.totalCount() + " pointers, " + count + " before");
        }
    }

    private static void step(TorchBatches batches, Tensor weight) {
        try (PointerScope _ = new PointerScope(); TorchBatch batch = batches.next()) {
            torch.mul(batch.get("row"), weight).sum().backward();
            weight.mutable_grad().zero_();
        }
    }

    // ---- types

    @Test
    void tokensOfTypesThatTorchDoesNotIndexWithAreRefusedByWhatHelps() {
        for (DType dtype : List.of(DType.U16, DType.U32)) {
            try (DataLoader loader = DataLoader.builder(tokens(dtype)).batchSize(2).open();
                    TorchBatch batch = TorchBatches.of(loader).next(); PointerScope _ = new PointerScope()) {
                Tensor ids = batch.get("input_ids");
                assertEquals(dtype == DType.U16 ? ScalarType.UInt16 : ScalarType.UInt32, ids.scalar_type().intern());
                // What torch does with them
                assertEquals(1, ids.to(ScalarType.Long).max().item_long());
                assertThrows(RuntimeException.class, () -> torch.embedding(torch.ones(300, 2), ids));
                String message = assertThrows(IllegalArgumentException.class, () -> batch.indices("input_ids"))
                        .getMessage();
                assertTrue(message.startsWith("field input_ids: found " + dtype + ", which torch does not index with,"
                        + " expected i32 or i64") && message.contains("TokenStage.of(DType.I64)")
                        && message.contains(CastTransform.class.getSimpleName()), message);
            }
        }
    }

    @Test
    void anUnknownFieldIsNamed() {
        try (DataLoader loader = rows(LeaseMode.CONFINED); TorchBatch batch = TorchBatches.of(loader).next()) {
            String message = assertThrows(IllegalArgumentException.class, () -> batch.get("z")).getMessage();
            assertTrue(message.startsWith("no field 'z' in batches of loader"), message);
            assertTrue(message.endsWith("only [id, row]"), message);
        }
    }

    // ---- epochs

    @Test
    void anEpochEndsWhereTheLoadersDoes() {
        try (DataLoader loader = DataLoader.builder(Samples.rows(10, 4)).batchSize(4).open()) {
            long rows = 0;
            for (TorchBatch batch : TorchBatches.of(loader).epoch()) {
                try (batch) {
                    rows += batch.get("row").size(0);
                }
            }
            assertEquals(10, rows);
        }
    }

    // ---- DLPack

    @Test
    void aTensorOfTorchCrossesByDLPackAndIsHeld() {
        int live = DLPackCapsule.live();
        DLPackCapsule capsule;
        try (Tensor made = torch.arange(new org.bytedeco.pytorch.Scalar(6)).view(2, 3)) {
            capsule = TorchDLPack.give(made);
        }
        try (Tensor back = TorchDLPack.take(capsule)) {
            assertArrayEquals(new long[] {2, 3}, back.shape());
            assertEquals(15, back.sum().item_long());
        }
        assertEquals(live, DLPackCapsule.live());
    }

    @Test
    void aTensorThatIsNotContiguousIsRefused() {
        try (Tensor made = torch.ones(2, 3); Tensor turned = made.t()) {
            assertTrue(assertThrows(IllegalArgumentException.class, () -> TorchDLPack.give(turned)).getMessage()
                    .contains("is not contiguous"));
        }
    }

    // ---- native code that keeps an address

    @Test
    void paranoidLeasesStopNativeCodeThatReadsAClosedBatch() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-Dpenstock.leases=paranoid", "-XX:-CreateCoredumpOnCrash",
                "-XX:ErrorFile=/dev/null", "-cp", System.getProperty("java.class.path"), LateReader.class.getName())
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertNotEquals(0, process.waitFor(), output);
        assertTrue(output.contains("open: 3.0"), output);
        assertTrue(output.contains("SIGSEGV") || output.contains("SIGBUS"), output);
        assertFalse(output.contains("closed:"), output);
    }

    /** Keeps an address that torch gave out. */
    static final class LateReader {
        private LateReader() {
        }

        public static void main(String[] args) {
            try (DataLoader loader = rows(LeaseMode.CONFINED)) {
                TorchBatch batch = TorchBatches.of(loader).next();
                FloatPointer data = batch.get("row").data_ptr_float();
                System.out.println("open: " + data.get(3));
                batch.close();
                System.out.println("closed: " + data.get(3));
            }
        }
    }

    @Test
    void aLossMayBeComputedWithoutValues() {
        try (DataLoader loader = rows(LeaseMode.CONFINED); PointerScope _ = new PointerScope();
                TorchBatch batch = TorchBatches.of(loader).next()) {
            Tensor logits = torch.mul(batch.get("row"), batch.get("row"));
            Tensor labels = batch.indices("id");
            assertTrue(torch.cross_entropy_loss(logits, labels, new TensorOptional(), 1, -100, 0).item_float() > 0);
        }
    }

    @Test
    void theBatchIsTheEngines() {
        try (DataLoader loader = rows(LeaseMode.CONFINED); TorchBatch batch = TorchBatches.of(loader).next()) {
            Batch engines = batch.batch();
            assertEquals(0, engines.sample(0));
            assertTrue(engines.isGivenToNativeCode());
        }
    }
}
