package io.penstock.io;

import io.penstock.os.Posix;

/**
 * Has the OS begin to read ranges of mapped files that will be read soon, exactly those and no page more, and does not
 * wait for them: {@code posix_fadvise(2)} with {@code POSIX_FADV_WILLNEED}. Neighbours become one range; what is read
 * in order is left to the kernel where it reads far ahead by itself.
 *
 * <p>Files that are in the page cache, most of them, cost no call. If the device's queue is full the OS makes the
 * caller wait, in native code, which is what bounds the reads in flight.
 *
 * <p>One thread at a time; holds no native memory, and allocates nothing.
 */
public final class ReadAhead {

    /** The OS cuts a request short that is longer than the device's read-ahead and its largest read: mostly 128 KiB. */
    private static final long CALL_BYTES = 128 << 10;

    /** What is read in order: so many neighbours, and so many bytes of them. */
    private static final int IN_ORDER = 8;
    private static final long IN_ORDER_BYTES = 512 << 10;
    /** A kernel that reads ahead so far needs no help with it, and does it in larger pages than advice gets. */
    private static final long KERNEL_SUFFICES_BYTES = 1 << 20;

    private MappedFile file;
    /** Whether the range is to be read ahead: its file is not in the page cache. */
    private boolean cold;
    /** The range that the next one may join, at pages' bounds; empty at first. */
    private long begin;
    private long end;
    private int joined;
    private long bytes;
    private long ranges;

    /** Nothing to read yet. */
    public ReadAhead() {
    }

    /**
     * Adds a range. It is asked for when the next one does not join it, or at {@link #flush}.
     *
     * @param in the file
     * @param offset the range's first byte
     * @param length its bytes
     */
    public void add(MappedFile in, long offset, long length) {
        if (in != file) {
            change(in);
        }
        if (!cold || length <= 0) {
            return;
        }
        long from = offset & -Posix.PAGE_BYTES;
        long to = (offset + length + Posix.PAGE_BYTES - 1) & -Posix.PAGE_BYTES;
        if (from >= begin && from <= end) {
            end = Math.max(end, to);
            joined++;
            return;
        }
        ask();
        begin = from;
        end = to;
    }

    private void change(MappedFile in) {
        ask();
        file = in;
        in.refresh();
        cold = in.isSparse() || Posix.AVAILABLE && !in.isWarm();
    }

    /** Asks for what was added. */
    public void flush() {
        ask();
        file = null;
    }

    private void ask() {
        if (begin == end) {
            return;
        }
        if (file.isSparse()) {
            file.willNeed(begin, end - begin);
        } else if (!isForKernel()) {
            for (long at = begin; at < end; at += CALL_BYTES) {
                file.willNeed(at, Math.min(CALL_BYTES, end - at));
            }
        }
        bytes += end - begin;
        ranges++;
        begin = end = 0;
        joined = 0;
    }

    private boolean isForKernel() {
        return joined >= IN_ORDER && end - begin >= IN_ORDER_BYTES && file.kernelReadAhead() >= KERNEL_SUFFICES_BYTES;
    }

    /**
     * What was asked for so far, or left to the kernel.
     *
     * @return bytes, whole pages; 0 if all files are in the page cache
     */
    public long bytes() {
        return bytes;
    }

    /**
     * What was asked for so far.
     *
     * @return ranges that do not touch
     */
    public long ranges() {
        return ranges;
    }
}
