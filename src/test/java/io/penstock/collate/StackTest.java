// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.collate.PoisonedSlab.Field;
import io.penstock.dataset.Documents;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.format.npy.NpyWriter;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.TensorStore;
import io.penstock.testing.FileTokenStore;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.NoTokens;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StackTest {

    @TempDir
    Path folder;

    private static Field reference(String name, Tensor tensor, long[] samples) {
        var bytes = new ByteArrayOutputStream();
        for (long sample : samples) {
            for (byte stored : tensor.row(sample).segment().toArray(ValueLayout.JAVA_BYTE)) {
                bytes.write(tensor.dtype() == DType.BOOL && stored != 0 ? 1 : stored);
            }
        }
        List<Long> shape = new ArrayList<>(List.of((long) samples.length));
        for (int d = 1; d < tensor.rank(); d++) {
            shape.add(tensor.dim(d));
        }
        return new Field(name, tensor.dtype(), shape, bytes.toByteArray());
    }

    /** A {@code .npy} of random bytes. */
    private TensorStore npy(SplittableRandom random, DType dtype, long... shape) throws IOException {
        byte[] bytes = new byte[(int) new TensorSpec("", dtype, shape).byteSize()];
        random.nextBytes(bytes);
        Path file = folder.resolve(dtype + "-" + shape.length + "-" + bytes.length + ".npy");
        NpyWriter.write(file, Tensor.of(MemorySegment.ofArray(bytes), dtype, shape), IfExists.FAIL);
        return TensorStore.open(file, OpenOptions.DEFAULT.withDType(dtype));
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void aBatchIsItsSamplesRowsFieldByField(DType dtype) throws IOException {
        var random = new SplittableRandom(dtype.ordinal());
        try (TensorStore grid = npy(random, dtype, 30, 5, 7); TensorStore scalar = npy(random, dtype, 30);
                TensorStore nothing = npy(random, dtype, 30, 0, 9); TensorStore line = npy(random, dtype, 30, 256)) {
            var dataset = TensorRows.of("grid", grid).and("scalar", scalar).and("nothing", nothing).and("line", line);
            for (ReadMode mode : ReadMode.values()) {
                try (var in = new SampleReader(dataset, mode);
                        var slab = new PoisonedSlab(Stack.fields(), dataset, 8)) {
                    for (int rows : new int[] {8, 3, 1, 8}) {
                        slab.check(in, random.longs(rows, 0, 30).toArray(), samples -> List.of(
                                reference("grid", grid.tensor(0), samples),
                                reference("scalar", scalar.tensor(0), samples),
                                reference("nothing", nothing.tensor(0), samples),
                                reference("line", line.tensor(0), samples)));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void windowsOfAFileAreStackedInEveryReadMode(ReadMode mode) throws IOException {
        try (var model = new MemoryTokenStore(DType.U32, 3000); var store = new FileTokenStore(folder, model)) {
            var dataset = TokenWindows.withoutLabels(store, 100, 37);
            try (var in = new SampleReader(dataset, mode); var slab = new PoisonedSlab(Stack.fields(), dataset, 5)) {
                for (long[] batch : new long[][] {{77, 0, 1, 50, 50}, {3}}) {
                    slab.check(in, batch, samples -> {
                        List<Long> tokens = new ArrayList<>();
                        for (long sample : samples) {
                            for (int t = 0; t < 100; t++) {
                                tokens.add(model.token(sample * 37 + t));
                            }
                        }
                        return List.of(Field.of("tokens", DType.U32, List.of((long) samples.length, 100L), tokens));
                    });
                }
            }
        }
    }

    @Test
    void samplesOfDifferentLengthsAreRefused() {
        assertEquals("tokens: u8[*]: samples of different lengths cannot be stacked: decode them if they are pictures"
                        + " (ImageDecoder.rgb), or pad them (StackAndPad.fields())",
                assertThrows(IllegalArgumentException.class,
                        () -> Stack.fields().layout(Documents.of(new NoTokens(0, 5)), 2)).getMessage());
    }
}
