// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.PixelOp.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * Splits the operations of a pipeline into passes over a batch. Between two passes the images lie in memory.
 *
 * <p>A pass computes each pixel on its own: pixels may move, then one operation may combine several, then colors and
 * places may change. Values are rounded to {@code u8} after each operation all the same, so the split changes the speed
 * and never the result. An operation starts a new pass if it needs the whole image, or if it combines pixels that are
 * not stored anywhere yet: resized, warped or recolored ones.
 */
public final class Passes {

    /** The most operations of a pass; {@code MAX_OPERATIONS} in {@code augment.cu}. */
    public static final int MAX_OPERATIONS = 8;

    private static final int PIECE_PIXELS = 2048;

    /**
     * An operation of a pass.
     *
     * @param op what it does
     * @param record where its parameters start in a row of the table
     * @param in the size of its input
     */
    public record Operation(PixelOp op, int record, Size in) {
    }

    /**
     * A pass.
     *
     * @param operations in order; none for a copy
     * @param in the size of the images before
     * @param out the size behind
     * @param chain which copy of the image it changes, from 1; 0 for the image itself
     */
    public record Pass(List<Operation> operations, Size in, Size out, int chain) {

        /** Tells whether the pass begins with an operation of this kind. */
        public boolean begins(Kind kind) {
            return !operations.isEmpty() && operations.getFirst().op.kind() == kind;
        }

        /** The index of the operation that gathers pixels, or -1. */
        public int gather() {
            for (int k = 0; k < operations.size(); k++) {
                if (operations.get(k).op.kind().gathers()) {
                    return k;
                }
            }
            return -1;
        }

        public boolean measures() {
            return !operations.isEmpty() && operations.getFirst().op.kind().measures();
        }

        public boolean prepares() {
            boolean prepares = false;
            for (int k = 0; k < operations.size(); k++) {
                prepares |= operations.get(k).op.kind().prepares();
            }
            return prepares;
        }

        /** Returns the threads per image that the preparing kernel can use: operations, rows and columns. */
        public int preparedItems() {
            return operations.size() + (begins(Kind.RESIZE) ? after(0).height() + after(0).width() : 0);
        }

        /** Returns the blocks per image that a pass's kernel uses: each does rows of about 2048 pixels. */
        public int pieces() {
            return Math.ceilDiv(out.height(), Math.max(1, PIECE_PIXELS / out.width()));
        }

        /** Returns the size of the images after an operation. */
        public Size after(int k) {
            return k + 1 < operations.size() ? operations.get(k + 1).in : out;
        }
    }

    private final List<Pass> passes = new ArrayList<>();
    private final List<Operation> open = new ArrayList<>();
    private int chain;
    private Size begin;
    private Size size;

    private Passes(Size image) {
        this.begin = image;
        this.size = image;
    }

    /**
     * Returns the passes of a pipeline.
     *
     * @param offsets where each parameter of each step is in a row of the table
     */
    public static List<Pass> of(List<NamedStep> steps, int[][] offsets, Size image) {
        var passes = new Passes(image);
        for (int i = 0; i < steps.size(); i++) {
            steps.get(i).step().addTo(passes, offsets[i]);
        }
        passes.close();
        return List.copyOf(passes.passes);
    }

    /** Returns the size of the images after the last operation. */
    Size size() {
        return size;
    }

    /**
     * Lets the operations that follow change a copy of the image as it is now, until the next call.
     *
     * @param number the number of the copy, from 1; 0 to go on with the image itself
     */
    void chain(int number) {
        if (number != chain) {
            close();
            chain = number;
        }
    }

    /** Adds an operation that keeps the size. */
    void add(PixelOp op, int record) {
        add(op, record, size);
    }

    /** Adds an operation. */
    void add(PixelOp op, int record, Size result) {
        if (!fits(op.kind())) {
            close();
        }
        open.add(new Operation(op, record, size));
        size = result;
    }

    private boolean fits(Kind kind) {
        return open.isEmpty() || open.size() < MAX_OPERATIONS && !kind.beginsPass()
                && (!kind.gathers() || open.stream().allMatch(before -> before.op.kind().moves()));
    }

    private void close() {
        if (!open.isEmpty()) {
            passes.add(new Pass(List.copyOf(open), begin, size, chain));
            open.clear();
            begin = size;
        }
    }
}
