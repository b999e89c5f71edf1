// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.os.Posix;
import org.jspecify.annotations.Nullable;

/**
 * Asks the OS to start reading exactly the ranges of mapped files that will be read soon, without waiting:
 * {@code posix_fadvise(2)} with {@code POSIX_FADV_WILLNEED}. Adjacent ranges are merged; sequential reads are left to a
 * kernel that reads far ahead itself.
 *
 * <p>Files mostly in the page cache cost no call. If the device queue is full, the OS blocks the caller in native code,
 * which bounds the reads in flight.
 *
 * <p>One thread at a time; holds no native memory and allocates nothing.
 */
public final class ReadAhead {

    /** The OS truncates requests above the device's read-ahead and largest read: mostly 128 KiB. */
    private static final long CALL_BYTES = 128 << 10;

    /** A sequential read: this many adjacent ranges with this many bytes. */
    private static final int IN_ORDER = 8;
    private static final long IN_ORDER_BYTES = 512 << 10;
    /** A kernel that reads this far ahead needs no advice, and uses larger pages than advice gets. */
    private static final long KERNEL_SUFFICES_BYTES = 1 << 20;

    private @Nullable MappedFile file;
    /** Whether to read the range ahead: its file is not in the page cache. */
    private boolean cold;
    /** The pending range, page-aligned; the next one may join it. Empty at first. */
    private long begin;
    private long end;
    private int joined;
    private long bytes;
    private long ranges;

    /** Creates an empty read-ahead. */
    public ReadAhead() {
    }

    /**
     * Adds a range. It is requested when the next one does not join it, or at {@link #flush}.
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
        long from = offset & -Posix.pageBytes();
        long to = (offset + length + Posix.pageBytes() - 1) & -Posix.pageBytes();
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
        cold = !in.isWarm();
    }

    /** Requests the pending range. */
    public void flush() {
        ask();
        file = null;
    }

    private void ask() {
        MappedFile in = file;
        if (in == null || begin == end) {
            return;
        }
        // Missing bytes are fetched first: the OS would read them as zeros.
        if (in.prefetch(begin, end - begin) && !isForKernel(in)) {
            for (long at = begin; at < end; at += CALL_BYTES) {
                in.pages().willNeed(at, Math.min(CALL_BYTES, end - at));
            }
        }
        bytes += end - begin;
        ranges++;
        begin = end = 0;
        joined = 0;
    }

    private boolean isForKernel(MappedFile in) {
        return joined >= IN_ORDER && end - begin >= IN_ORDER_BYTES
                && in.pages().kernelReadAhead() >= KERNEL_SUFFICES_BYTES;
    }

    /**
     * {@return the bytes requested so far or left to the kernel, in whole pages; 0 if all files are in the page cache}
     */
    public long bytes() {
        return bytes;
    }

    /** {@return the number of requested ranges; adjacent ones count as one} */
    public long ranges() {
        return ranges;
    }
}
