// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.csv.ColumnType.Kind;
import io.penstock.format.csv.RowLayout.Target;
import io.penstock.format.table.ColumnBlock;
import io.penstock.io.publish.DecodedSpill;
import io.penstock.text.Utf8;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Decodes blocks of rows into the places that the table's layout says. For one thread. */
abstract class BlockDecoder {

    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final RowLayout layout;
    byte[] text = new byte[RowBlocks.BLOCK_BYTES + RowReader.PADDING_BYTES];
    private byte[] out = new byte[RowBlocks.BLOCK_BYTES];
    /** The texts that are not in the file as they are. */
    private byte[] copies = new byte[1 << 10];
    private int copied;
    private int rows;
    private long textAt;
    /** Whether texts are copied because the file does not stay open. */
    private boolean copiesTexts;
    /** The first row without a value that each row should have; negative if there is none. */
    private int lackingRow;
    private String lackingColumn = "";

    BlockDecoder(RowLayout layout) {
        this.layout = layout;
    }

    /** Decodes a block and appends it to a copy. */
    DecodedSpill.Place decode(TextFile file, RowBlocks index, int block, DecodedSpill copy) throws IOException {
        int length = load(file, index, block);
        copiesTexts = !file.isKept();
        rows = (int) index.rows().length(block);
        copied = 0;
        lackingRow = -1;
        int bytes = Math.multiplyExact(rows, layout.rowBytes);
        if (out.length < bytes) {
            out = new byte[Math.max(bytes, 2 * out.length)];
        }
        for (RowLayout.Cell cell : layout.cells) {
            if (cell.stateBefore() >= 0) {
                int at = rows * cell.stateBefore();
                Arrays.fill(out, at, at + rows, ColumnBlock.PRESENT);
            }
        }
        int found = decodeRows(length, rows);
        if (found != rows) {
            file.checkUnchanged();
            throw new MalformedStoreException(file.location(), textAt, found + " rows", rows
                    + ", as its index says (was it written while it was open?)");
        }
        if (lackingRow >= 0) {
            throw new IllegalStateException("column '" + lackingColumn + "': a row lacks a value, which the index does"
                    + " not say");
        }
        return copy.append(MemorySegment.ofArray(out).asSlice(0, bytes),
                MemorySegment.ofArray(copies).asSlice(0, copied));
    }

    private int load(TextFile file, RowBlocks index, int block) {
        textAt = index.offsets()[block];
        int length = (int) (index.offsets()[block + 1] - textAt);
        if (text.length < length + RowReader.PADDING_BYTES) {
            text = new byte[length + RowReader.PADDING_BYTES];
        }
        file.read(textAt, text, length);
        Arrays.fill(text, length, length + RowReader.PADDING_BYTES, (byte) 0);
        text[length] = '\n';
        return length;
    }

    /** Returns where a row of a block begins. */
    final long startOf(TextFile file, RowBlocks index, int block, long row) {
        int length = load(file, index, block);
        int at = 0;
        for (long i = 0; at < length; i++) {
            at = skipBlank(at, length);
            if (i == row) {
                break;
            }
            at = next(at, length);
        }
        return textAt + at;
    }

    /** Returns where the row at a byte, which is not blank, ends. */
    abstract int next(int at, int length);

    abstract int skipBlank(int at, int length);

    /** Decodes rows; returns how many there are, as many as are expected or fewer. */
    abstract int decodeRows(int length, int expected);

    final void missing(Target target, int row) {
        if (target.missing().isEmpty()) {
            noValue(target, row, ColumnBlock.NULL);
            return;
        }
        double value = target.missing().getAsDouble();
        switch (target.type().kind()) {
            case F32 -> put(target, row, Float.floatToRawIntBits((float) value));
            case F64 -> put(target, row, Double.doubleToRawLongBits(value));
            case I64, TIMESTAMP -> put(target, row, (long) value);
            case BOOL -> out[place(target, row)] = (byte) (value == 0 ? 0 : 1);
            default -> put(target, row, (int) value);
        }
        mask(target, row, (byte) 0);
    }

    final void bad(Target target, int row) {
        noValue(target, row, ColumnBlock.BAD);
    }

    /** Takes back that values of a row are missing or bad: the row is left out, and another one takes its place. */
    final void leaveOut(int row) {
        for (RowLayout.Cell cell : layout.cells) {
            if (cell.stateBefore() >= 0) {
                out[rows * cell.stateBefore() + row] = ColumnBlock.PRESENT;
            }
        }
        if (lackingRow == row) {
            lackingRow = -1;
        }
    }

    private void noValue(Target target, int row, byte state) {
        if (target.stateBefore() < 0) {
            // The index does not count the fields of a row that is left out, which is known at the row's end only.
            if (lackingRow < 0) {
                lackingRow = row;
                lackingColumn = target.column();
            }
            return;
        }
        int at = rows * target.stateBefore() + row;
        // Of several numbers in a row, a bad one is worse than one that is missing.
        if (out[at] != ColumnBlock.BAD) {
            out[at] = state;
        }
        int value = place(target, row);
        int width = target.type().kind() == Kind.TEXT ? RowLayout.TEXT_BYTES : target.type().kind().dtype.byteSize();
        Arrays.fill(out, value, value + width, (byte) 0);
        mask(target, row, (byte) 0);
    }

    private void mask(Target target, int row, byte value) {
        if (target.maskBefore() >= 0) {
            out[rows * target.maskBefore() + row * target.maskStride() + target.maskWithin()] = value;
        }
    }

    private int place(Target target, int row) {
        return rows * target.before() + row * target.stride() + target.within();
    }

    private void put(Target target, int row, int bits) {
        INTS.set(out, place(target, row), bits);
    }

    private void put(Target target, int row, long bits) {
        LONGS.set(out, place(target, row), bits);
    }

    /** Where the values of a target are in this block, and the bytes from row to row. */
    final class Numbers {

        private final Target target;
        private final Kind kind;
        private final int stride;
        private int at;

        Numbers(Target target) {
            this.target = target;
            this.kind = target.type().kind();
            this.stride = target.stride();
        }

        /** Goes to the block whose rows are decoded next. */
        void begin() {
            at = rows * target.before() + target.within();
        }

        /** Puts the number that was read last. */
        void put(int row, DecimalText number, byte[] bytes) {
            int place = at + row * stride;
            if (kind == Kind.F32) {
                INTS.set(out, place, Float.floatToRawIntBits(number.floatValue(bytes)));
            } else if (kind == Kind.F64) {
                LONGS.set(out, place, Double.doubleToRawLongBits(number.doubleValue(bytes)));
            } else {
                putNumber(target, row, number, bytes);
                return;
            }
            mask(target, row, (byte) 1);
        }
    }

    /** Puts the number that was read last. */
    final void putNumber(Target target, int row, DecimalText number, byte[] bytes) {
        switch (target.type().kind()) {
            case F32 -> put(target, row, Float.floatToRawIntBits(number.floatValue(bytes)));
            case F64 -> put(target, row, Double.doubleToRawLongBits(number.doubleValue(bytes)));
            default -> {
                if (number.isLong(bytes)) {
                    putLong(target, row, number.longValue());
                } else {
                    bad(target, row);
                }
                return;
            }
        }
        mask(target, row, (byte) 1);
    }

    final void putLong(Target target, int row, long value) {
        if (target.type().kind() == Kind.I64 || target.type().kind() == Kind.TIMESTAMP) {
            put(target, row, value);
        } else if (value == (int) value) {
            put(target, row, (int) value);
        } else {
            bad(target, row);
            return;
        }
        mask(target, row, (byte) 1);
    }

    final void putDouble(Target target, int row, double value) {
        if (target.type().kind() == Kind.F32) {
            put(target, row, Float.floatToRawIntBits((float) value));
        } else {
            put(target, row, Double.doubleToRawLongBits(value));
        }
        mask(target, row, (byte) 1);
    }

    final void putTruth(Target target, int row, boolean value) {
        out[place(target, row)] = (byte) (value ? 1 : 0);
    }

    /** Puts the number that stands for a text, or the text's place; it is copied if it is not in the file as it is. */
    final void putText(Target target, int row, byte[] bytes, int from, int to, boolean isCopied) {
        switch (target.type().kind()) {
            case HASH -> put(target, row,
                    (int) Long.remainderUnsigned(Categories.hash64(bytes, from, to), target.type().buckets()));
            case CATEGORY -> {
                Categories texts = target.categories();
                int number = texts == null ? -1 : texts.numberOf(bytes, from, to);
                if (number < 0) {
                    bad(target, row);
                } else {
                    put(target, row, number);
                }
            }
            default -> {
                if (Utf8.firstIllFormed(bytes, from, to) >= 0) {
                    bad(target, row);
                    return;
                }
                LONGS.set(out, place(target, row), isCopied || copiesTexts
                        ? ~copyOf(bytes, from, to) : textAt + from);
                INTS.set(out, place(target, row) + Long.BYTES, to - from);
            }
        }
    }

    private long copyOf(byte[] bytes, int from, int to) {
        int start = copied;
        int end = Math.addExact(start, to - from);
        if (end > copies.length) {
            copies = Arrays.copyOf(copies, (int) Math.min(Integer.MAX_VALUE - Long.SIZE, Math.max(end, 2L * start)));
        }
        System.arraycopy(bytes, from, copies, start, to - from);
        copied = end;
        return start;
    }
}
