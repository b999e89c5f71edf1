// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Passes.Operation;
import io.penstock.augment.step.Passes.Pass;
import io.penstock.device.Kernel;
import io.penstock.device.internal.Word;
import io.penstock.image.ResizeFilter;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.Stream;

/** The kernels of a pass, and their arguments: {@code struct Pass} of {@code augment.cu}. */
public final class PassArguments {

    /** The floats that are prepared for each image. */
    static final int NUMBERS = Passes.MAX_OPERATIONS * 8;
    /** The bytes of an image's tables. */
    static final int TABLE_BYTES = 3 * 256;

    private static final StructLayout OP = MemoryLayout.structLayout(
            ValueLayout.JAVA_BYTE.withName("kind"), ValueLayout.JAVA_BYTE.withName("record"),
            ValueLayout.JAVA_BYTE.withName("setting"), ValueLayout.JAVA_BYTE.withName("fill"),
            ValueLayout.JAVA_FLOAT.withName("amount"), ValueLayout.JAVA_INT.withName("height"),
            ValueLayout.JAVA_INT.withName("width")).withName("Op");

    static final StructLayout LAYOUT = MemoryLayout.structLayout(Stream.concat(
            Stream.of(Word.layouts("source", "target", "batch", "channels", "height", "width", "table", "row_bytes",
                    "numbers", "weights", "taps_down", "taps_across", "tables", "count", "gather", "more")),
            Stream.of(MemoryLayout.sequenceLayout(Passes.MAX_OPERATIONS, OP).withName("ops")))
            .toArray(MemoryLayout[]::new)).withName("Pass");

    static final Word SOURCE = Word.of(LAYOUT, "source");
    static final Word TARGET = Word.of(LAYOUT, "target");
    static final Word BATCH = Word.of(LAYOUT, "batch");
    static final Word CHANNELS = Word.of(LAYOUT, "channels");
    static final Word HEIGHT = Word.of(LAYOUT, "height");
    static final Word WIDTH = Word.of(LAYOUT, "width");
    static final Word TABLE = Word.of(LAYOUT, "table");
    static final Word ROW_BYTES = Word.of(LAYOUT, "row_bytes");
    static final Word NUMBERS_ADDRESS = Word.of(LAYOUT, "numbers");
    static final Word WEIGHTS = Word.of(LAYOUT, "weights");
    static final Word TAPS_DOWN = Word.of(LAYOUT, "taps_down");
    static final Word TAPS_ACROSS = Word.of(LAYOUT, "taps_across");
    static final Word TABLES = Word.of(LAYOUT, "tables");
    static final Word COUNT = Word.of(LAYOUT, "count");
    static final Word GATHER = Word.of(LAYOUT, "gather");
    static final Word MORE = Word.of(LAYOUT, "more");
    private static final long OPS = LAYOUT.byteOffset(PathElement.groupElement("ops"));
    private static final long RECORD = OP.byteOffset(PathElement.groupElement("record"));
    private static final long SETTING = OP.byteOffset(PathElement.groupElement("setting"));
    private static final long FILL = OP.byteOffset(PathElement.groupElement("fill"));
    private static final long AMOUNT = OP.byteOffset(PathElement.groupElement("amount"));
    private static final long OP_HEIGHT = OP.byteOffset(PathElement.groupElement("height"));
    private static final long OP_WIDTH = OP.byteOffset(PathElement.groupElement("width"));

    private static final List<PixelOp.Kind> KINDS = List.of(PixelOp.Kind.values());

    /** Computes beforehand what the threads of a GPU share. The pass's twin computes it where it needs it. */
    public static final Kernel PREPARE = new Kernel("penstock_augment_prepare", LAYOUT, _ -> { });
    public static final Kernel MEASURE = new Kernel("penstock_augment_measure", LAYOUT, _ -> { });
    public static final Kernel COLUMNS = new Kernel("penstock_augment_columns", LAYOUT, _ -> { });
    public static final Kernel PASS = new Kernel("penstock_augment", LAYOUT, PassTwin::run);

    /** Returns new arguments of a pass, without addresses and batch. */
    public static MemorySegment of(Pass pass, int channels, int rowBytes) {
        MemorySegment arguments = PASS.newArguments();
        CHANNELS.set(arguments, channels);
        HEIGHT.set(arguments, pass.out().height());
        WIDTH.set(arguments, pass.out().width());
        ROW_BYTES.set(arguments, rowBytes);
        COUNT.set(arguments, pass.operations().size());
        GATHER.set(arguments, pass.gather());
        if (pass.begins(PixelOp.Kind.RESIZE)) {
            TAPS_DOWN.set(arguments, taps(pass, pass.in().height(), pass.after(0).height()));
            TAPS_ACROSS.set(arguments, taps(pass, pass.in().width(), pass.after(0).width()));
        }
        setSize(arguments, 0, pass.in());
        for (int k = 0; k < pass.operations().size(); k++) {
            Operation operation = pass.operations().get(k);
            long at = op(k);
            arguments.set(ValueLayout.JAVA_BYTE, at, (byte) operation.op().kind().ordinal());
            arguments.set(ValueLayout.JAVA_BYTE, at + RECORD, (byte) operation.record());
            arguments.set(ValueLayout.JAVA_BYTE, at + SETTING, (byte) operation.op().setting());
            arguments.set(ValueLayout.JAVA_BYTE, at + FILL, (byte) operation.op().fill());
            arguments.set(ValueLayout.JAVA_FLOAT, at + AMOUNT, operation.op().amount());
            setSize(arguments, k, operation.in());
        }
        return arguments;
    }

    private static void setSize(MemorySegment arguments, int k, Size size) {
        arguments.set(ValueLayout.JAVA_INT, op(k) + OP_HEIGHT, size.height());
        arguments.set(ValueLayout.JAVA_INT, op(k) + OP_WIDTH, size.width());
    }

    /** Returns the most input pixels that make up one output pixel. */
    private static int taps(Pass pass, int from, int to) {
        boolean isCubic = pass.operations().getFirst().op().setting() >> 1 == ResizeFilter.BICUBIC.ordinal();
        return (int) Math.ceil((isCubic ? 2 : 1) * Math.max((double) from / to, 1)) * 2 + 1;
    }

    /** Returns the bytes of an image's weights. */
    static long weightBytes(MemorySegment arguments, Pass pass) {
        if (pass.begins(PixelOp.Kind.BLUR)) {
            return Float.BYTES * (long) pass.operations().getFirst().op().amount();
        }
        return pass.begins(PixelOp.Kind.RESIZE) ? Integer.BYTES * (pass.after(0).height()
                * (2 + TAPS_DOWN.get(arguments)) + pass.after(0).width() * (2 + TAPS_ACROSS.get(arguments))) : 0;
    }

    private static long op(int k) {
        return OPS + k * OP.byteSize();
    }

    public static PixelOp.Kind kind(MemorySegment arguments, int k) {
        return KINDS.get(arguments.get(ValueLayout.JAVA_BYTE, op(k)));
    }

    static int record(MemorySegment arguments, int k) {
        return arguments.get(ValueLayout.JAVA_BYTE, op(k) + RECORD);
    }

    static int setting(MemorySegment arguments, int k) {
        return arguments.get(ValueLayout.JAVA_BYTE, op(k) + SETTING);
    }

    public static int fill(MemorySegment arguments, int k) {
        return arguments.get(ValueLayout.JAVA_BYTE, op(k) + FILL) & 0xFF;
    }

    static float amount(MemorySegment arguments, int k) {
        return arguments.get(ValueLayout.JAVA_FLOAT, op(k) + AMOUNT);
    }

    /** The height of an operation's input; after the last operation, the height of the result. */
    public static int height(MemorySegment arguments, int k) {
        return k > 0 && k == COUNT.get(arguments) ? (int) HEIGHT.get(arguments)
                : arguments.get(ValueLayout.JAVA_INT, op(k) + OP_HEIGHT);
    }

    /** The width of an operation's input; after the last operation, the width of the result. */
    public static int width(MemorySegment arguments, int k) {
        return k > 0 && k == COUNT.get(arguments) ? (int) WIDTH.get(arguments)
                : arguments.get(ValueLayout.JAVA_INT, op(k) + OP_WIDTH);
    }
}
