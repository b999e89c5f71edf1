// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static io.penstock.memory.LittleEndian.F32;
import static io.penstock.memory.LittleEndian.F64;
import static io.penstock.memory.LittleEndian.I32;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.augment.step.NamedStep;
import io.penstock.augment.step.Step;
import io.penstock.image.StepParameters;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The layout of a pipeline's parameters as a field of a batch: a row of at most {@value #MAX_BYTES} bytes a sample, in
 * which each step has its parameters. {@link Augment#withParameters} adds the field to a dataset, and {@link
 * Augment#stage} reads it.
 *
 * {@snippet :
 * ParameterTable table = augment.table();
 * System.out.println(table.read(batch.tensor("jpg_parameters").row(0)));      // what was drawn for the first sample
 * }
 *
 * <p>{@code docs/spec/augment.md} specifies the bytes. Immutable and thread-safe.
 */
public final class ParameterTable {

    /** The largest size of a row. */
    public static final int MAX_BYTES = 128;

    private static final int ALIGNMENT_BYTES = 8;

    private final List<NamedStep> steps;
    private final List<List<DType>> types;
    /** For each step, where its parameters start in a row. */
    private final int[][] offsets;
    private final int rowBytes;

    private ParameterTable(List<NamedStep> steps) {
        this.steps = steps;
        this.types = steps.stream().map(named -> named.form().types()).toList();
        this.offsets = new int[steps.size()][];
        int end = 0;
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = new int[types.get(i).size()];
            for (int p = 0; p < offsets[i].length; p++) {
                int bytes = types.get(i).get(p).byteSize();
                offsets[i][p] = Math.ceilDiv(end, bytes) * bytes;
                end = offsets[i][p] + bytes;
            }
        }
        this.rowBytes = Math.max(1, Math.ceilDiv(end, ALIGNMENT_BYTES)) * ALIGNMENT_BYTES;
    }

    /**
     * Lays out the parameters of steps.
     *
     * @throws IllegalArgumentException if they take too many bytes
     */
    static ParameterTable of(List<NamedStep> steps) {
        var table = new ParameterTable(steps);
        if (table.rowBytes > MAX_BYTES) {
            throw new IllegalArgumentException("the parameters of "
                    + steps.stream().map(NamedStep::name).toList() + " take " + table.rowBytes
                    + " bytes a sample, expected at most " + MAX_BYTES
                    + ": run some of these steps in the workers, by Augment.mapped");
        }
        return table;
    }

    /** Tells where each parameter of each step is in a row. */
    int[][] offsets() {
        return offsets;
    }

    /**
     * The size of a row.
     *
     * @return a multiple of 8, at most {@value #MAX_BYTES}
     */
    public int rowBytes() {
        return rowBytes;
    }

    /**
     * The field of a sample's parameters.
     *
     * @param images the name of the field of images
     * @return that name and {@code _parameters}, {@code u8}, one row
     */
    public TensorSpec field(String images) {
        return new TensorSpec(images + "_parameters", DType.U8, rowBytes);
    }

    /**
     * Reads the parameters of one sample.
     *
     * @param row {@code u8} of {@link #rowBytes} elements
     * @return one per step, in order, as {@link Augment#apply} takes them
     * @throws IllegalArgumentException if the row has another dtype or shape
     */
    public List<StepParameters> read(Tensor row) {
        check(row);
        List<StepParameters> found = new ArrayList<>();
        for (int i = 0; i < offsets.length; i++) {
            double[] values = new double[offsets[i].length];
            for (int p = 0; p < values.length; p++) {
                values[p] = get(row.segment(), types.get(i).get(p), offsets[i][p]);
            }
            found.add(steps.get(i).parameters(values));
        }
        return List.copyOf(found);
    }

    /**
     * Writes the parameters of one sample, for example to replace those that were drawn.
     *
     * @param parameters one per step, in order
     * @param row {@code u8} of {@link #rowBytes} elements, written
     * @throws IllegalArgumentException if the parameters are not those of the steps, one does not fit into its place,
     *     or the row has another dtype or shape
     */
    public void write(List<StepParameters> parameters, Tensor row) {
        check(row);
        if (parameters.size() != offsets.length) {
            throw new IllegalArgumentException(
                    "found the parameters of " + parameters.size() + " steps, expected those of " + offsets.length);
        }
        double[] values = new double[Step.MAX_PARAMETERS];
        row.segment().asSlice(0, rowBytes).fill((byte) 0);
        for (int i = 0; i < offsets.length; i++) {
            steps.get(i).values(parameters.get(i), values);
            for (int p = 0; p < offsets[i].length; p++) {
                DType type = types.get(i).get(p);
                if (!type.isFloat() && !(values[p] >= least(type) && values[p] <= greatest(type))) {
                    throw new IllegalArgumentException(parameters.get(i) + ": " + values[p] + ", expected "
                            + least(type) + " to " + greatest(type));
                }
            }
            write(i, values, row.segment());
        }
    }

    /** Writes the parameters of one step. */
    void write(int step, double[] values, MemorySegment row) {
        for (int p = 0; p < offsets[step].length; p++) {
            switch (types.get(step).get(p)) {
                case U8 -> row.set(JAVA_BYTE, offsets[step][p], (byte) (int) values[p]);
                case I32 -> row.set(I32, offsets[step][p], (int) values[p]);
                case F32 -> row.set(F32, offsets[step][p], (float) values[p]);
                default -> row.set(F64, offsets[step][p], values[p]);
            }
        }
    }

    private static double get(MemorySegment row, DType type, int offset) {
        return switch (type) {
            case U8 -> row.get(JAVA_BYTE, offset) & 0xFF;
            case I32 -> row.get(I32, offset);
            case F32 -> row.get(F32, offset);
            default -> row.get(F64, offset);
        };
    }

    private static int least(DType type) {
        return type == DType.U8 ? 0 : Integer.MIN_VALUE;
    }

    private static int greatest(DType type) {
        return type == DType.U8 ? 255 : Integer.MAX_VALUE;
    }

    private void check(Tensor row) {
        var found = new TensorSpec("row", row.dtype(), row.shape());
        var expected = new TensorSpec("row", DType.U8, rowBytes);
        if (!found.equals(expected)) {
            throw new IllegalArgumentException("found " + found + ", expected " + expected);
        }
    }

    /** For example {@code 32 bytes: penstock.augment.randomCrop at [0, 4], penstock.augment.horizontalFlip at [8]}. */
    @Override
    public String toString() {
        List<String> places = new ArrayList<>();
        for (int i = 0; i < offsets.length; i++) {
            places.add(steps.get(i).name() + " at " + Arrays.toString(offsets[i]));
        }
        return rowBytes + " bytes: " + String.join(", ", places);
    }
}
