// SPDX-License-Identifier: Apache-2.0
package io.penstock.tensorflow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.state.Checkpoint;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.framework.optimizers.Momentum;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;

/** Batches in TensorFlow's own tensors, and a graph that trains on them. */
class BatchTensorsTest {

    private static final int ROWS = 6;
    private static final int COLUMNS = 5;
    private static final long FEATURES = 4;
    private static final Map<DType, String> TYPES = Map.of(DType.U8, "DT_UINT8", DType.U16, "DT_UINT16",
            DType.I32, "DT_INT32", DType.I64, "DT_INT64", DType.F16, "DT_HALF", DType.BF16, "DT_BFLOAT16",
            DType.F32, "DT_FLOAT", DType.F64, "DT_DOUBLE", DType.BOOL, "DT_BOOL");

    @TempDir
    Path folder;

    private static Dataset bytes(DType dtype) {
        return Dataset.generate(100, List.of(new TensorSpec("x", dtype, COLUMNS)), "bytes of " + dtype,
                (sample, _, out) -> {
                    SplittableRandom random = new SplittableRandom(sample);
                    MemorySegment x = out.tensor("x").segment();
                    for (long i = 0; i < x.byteSize(); i++) {
                        int any = random.nextInt();
                        x.set(ValueLayout.JAVA_BYTE, i, (byte) (dtype == DType.BOOL ? any & 1 : any));
                    }
                });
    }

    private static byte[] bytes(Tensor tensor) {
        byte[] bytes = new byte[Math.toIntExact(tensor.numBytes())];
        tensor.asRawTensor().data().read(bytes);
        return bytes;
    }

    @ParameterizedTest
    @EnumSource(names = {"U8", "U16", "I32", "I64", "F16", "BF16", "F32", "F64", "BOOL"})
    void aTypeThatTensorFlowHasKeepsItsName(DType dtype) {
        try (DataLoader loader = DataLoader.builder(bytes(dtype)).batchSize(ROWS).open(); Batch batch = loader.next()) {
            try (BatchTensors tensors = BatchTensors.copyOf(batch)) {
                Tensor x = tensors.get("x");
                assertEquals(TYPES.get(dtype), x.dataType().name());
                assertEquals(Shape.of(ROWS, COLUMNS), x.shape());
            }
        }
    }

    @Test
    void tensorsOutliveTheBatchAndAnUnknownFieldIsNamed() {
        try (DataLoader loader = DataLoader.builder(line()).batchSize(8).open()) {
            BatchTensors tensors;
            byte[] expected;
            try (Batch batch = loader.next()) {
                tensors = BatchTensors.copyOf(batch);
                expected = batch.tensor("x").segment().toArray(ValueLayout.JAVA_BYTE);
            }
            try (tensors) {
                for (int i = 0; i < 50; i++) {
                    loader.next().close();
                }
                assertArrayEquals(expected, bytes(tensors.get("x")));
                IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> tensors.get("z"));
                assertEquals("no field z, only [x, y]", e.getMessage());
            }
        }
    }

    /** {@code y = x · (1, 2, 3, 4)}. */
    private static Dataset line() {
        List<TensorSpec> fields = List.of(new TensorSpec("x", DType.F32, FEATURES), new TensorSpec("y", DType.F32, 1));
        return Dataset.generate(1000, fields, "a line", (_, random, out) -> {
            float sum = 0;
            for (long i = 0; i < FEATURES; i++) {
                float value = random.nextFloat();
                out.tensor("x").segment().setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
                sum += value * (i + 1);
            }
            out.tensor("y").segment().setAtIndex(ValueLayout.JAVA_FLOAT, 0, sum);
        });
    }

    /** A linear model with its optimizer. */
    private static final class Line implements AutoCloseable {
        final Graph graph = new Graph();
        final Op step;
        final Operand<TFloat32> loss;
        final Session session;

        Line() {
            Ops tf = Ops.create(graph);
            Placeholder<TFloat32> x = placeholder(tf.withName("x"), FEATURES);
            Placeholder<TFloat32> y = placeholder(tf.withName("y"), 1);
            Variable<TFloat32> w = tf.withName("w").variable(tf.constant(new float[][] {{0}, {0}, {0}, {0}}));
            loss = tf.math.mean(tf.math.square(tf.math.sub(tf.linalg.matMul(x, w), y)), tf.constant(new int[] {0, 1}));
            step = new Momentum(graph, 0.05f, 0.9f).minimize(loss);
            session = new Session(graph);
            session.initialize();
        }

        private static Placeholder<TFloat32> placeholder(Ops tf, long columns) {
            return tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, columns)));
        }

        float train(DataLoader loader) {
            try (Batch batch = loader.next(); BatchTensors tensors = BatchTensors.copyOf(batch);
                    var found = tensors.feed(session.runner(), "x", "y").addTarget(step).fetch(loss).run()) {
                return ((TFloat32) found.get(0)).getFloat();
            }
        }

        @Override
        public void close() {
            session.close();
            graph.close();
        }
    }

    private static DataLoaderBuilder batches() {
        return DataLoader.builder(line()).batchSize(8).shuffle(42);
    }

    @Test
    void aGraphTrains() {
        try (Line line = new Line(); DataLoader loader = batches().open()) {
            float first = line.train(loader);
            float last = 0;
            for (int i = 0; i < 400; i++) {
                last = line.train(loader);
            }
            assertTrue(last < first / 20, first + " → " + last);
        }
    }

    @Test
    void aRunThatIsResumedHasTheLossesOfOneThatWasNotStopped() throws IOException {
        List<Float> straight = new ArrayList<>();
        try (Line line = new Line(); DataLoader loader = batches().open()) {
            for (int i = 0; i < 60; i++) {
                straight.add(line.train(loader));
                if (i == 29) {
                    line.session.save(folder.resolve("model").toString());
                    String[] files;
                    try (var all = Files.list(folder)) {
                        files = all.map(file -> file.getFileName().toString()).sorted().toArray(String[]::new);
                    }
                    Checkpoint.save(folder, 30, loader.state(), files);
                }
            }
        }
        Checkpoint saved = Checkpoint.load(folder);
        List<Float> resumed = new ArrayList<>();
        try (Line line = new Line(); DataLoader loader = batches().resume(saved.state()).open()) {
            line.session.restore(folder.resolve("model").toString());
            for (long i = saved.step(); i < 60; i++) {
                resumed.add(line.train(loader));
            }
        }
        assertEquals(straight.subList(30, 60), resumed);
    }
}
