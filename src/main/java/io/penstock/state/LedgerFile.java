// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.error.MalformedStoreException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The ledger of one rank, as it was written. */
final class LedgerFile implements AutoCloseable {

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int RECORD = Ledger.RECORD_BYTES;

    /** From one start of a run to the next. */
    record Attempt(int rank, int world, long place, LoaderState state, byte[] chain, int flags, long first,
            long steps) {

        boolean hasBytes() {
            return (flags & Ledger.WITH_BYTES) != 0;
        }

        boolean dropsRest() {
            return (flags & Ledger.REST_DROPPED) != 0;
        }

        /** The bytes from one step to the next. */
        long stride() {
            return hasBytes() ? 2 * RECORD : RECORD;
        }

        boolean beginsAt(Attempt other) {
            return world == other.world && state.epoch() == other.state.epoch() && place == other.place;
        }

        boolean beginsBy(Attempt other) {
            return state.epoch() < other.state.epoch() || state.epoch() == other.state.epoch() && place <= other.place;
        }
    }

    final Path path;
    final List<Attempt> attempts = new ArrayList<>();
    /** Bytes at the end that are no record. */
    final long torn;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes;

    private LedgerFile(Path path, FileChannel channel) throws IOException {
        this.path = path;
        try {
            long size = channel.size();
            this.bytes = map(channel, size);
            this.torn = read(size);
        } catch (Throwable t) {
            arena.close();
            throw t;
        }
    }

    private MemorySegment map(FileChannel channel, long size) throws IOException {
        if (size == 0) {
            return MemorySegment.NULL;
        }
        try {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
        } catch (UnsupportedOperationException _) {             // a file system in memory
            ByteBuffer copy = ByteBuffer.allocate(Math.toIntExact(size));
            while (copy.hasRemaining() && channel.read(copy) >= 0) {
                // reads on
            }
            return MemorySegment.ofArray(copy.array());
        }
    }

    /** Opens a file and verifies all of its records. */
    static LedgerFile open(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            return new LedgerFile(path, channel);
        }
    }

    private long read(long size) throws IOException {
        Ledger.Digests digests = new Ledger.Digests();
        byte[] seal = new byte[Long.BYTES];
        byte[] none = new byte[0];
        ByteBuffer record = ByteBuffer.allocate(RECORD).order(ByteOrder.LITTLE_ENDIAN);
        MemorySegment in = MemorySegment.ofBuffer(record);
        long at = 0;
        Attempt open = null;
        while (at + RECORD <= size) {
            MemorySegment.copy(bytes, at, in, 0, RECORD);
            boolean isStart = record.getLong(0) == Ledger.START;
            int length = isStart ? record.getInt(28) : 0;
            long end = at + RECORD + padded(length);
            if (isStart && (record.getInt(8) != Ledger.VERSION || length < 1) || end > size) {
                break;
            }
            byte[] text = isStart ? bytes.asSlice(at + RECORD, length).toArray(ValueLayout.JAVA_BYTE) : none;
            byte[] found = digests.seal(seal, record, 0, text);
            record.get(Ledger.SEAL_AT, seal);
            if (!Arrays.equals(found, 0, Long.BYTES, seal, 0, Long.BYTES)) {
                break;
            }
            if (isStart) {
                close(open, at);
                byte[] chain = new byte[Ledger.CHAIN_BYTES];
                record.get(Ledger.CHAIN_AT, chain);
                if (record.getInt(12) < 0 || record.getInt(12) >= record.getInt(16) || record.getLong(32) < 0) {
                    throw new MalformedStoreException(path, at, "rank " + record.getInt(12) + " of "
                            + record.getInt(16) + " from place " + record.getLong(32), "a rank below the world size");
                }
                open = new Attempt(record.getInt(12), record.getInt(16), record.getLong(32), state(text, at), chain,
                        record.getInt(24), end, 0);
                MemorySegment.copy(bytes, end - RECORD + Ledger.SEAL_AT, MemorySegment.ofArray(seal), 0, Long.BYTES);
            } else if (open == null) {
                throw new MalformedStoreException(path, at, "a step", "the start of a run");
            } else if ((record.getLong(0) == Ledger.BYTES) != ((at - open.first) % open.stride() != 0)) {
                throw new MalformedStoreException(path, at, "position " + record.getLong(0), open.hasBytes()
                        ? "a step, and behind each one its bytes" : "a step");
            }
            at = end;
        }
        close(open, at);
        return size - at;
    }

    private void close(@Nullable Attempt open, long at) {
        if (open != null) {
            attempts.add(new Attempt(open.rank, open.world, open.place, open.state, open.chain, open.flags,
                    open.first, Math.ceilDiv(at - open.first, open.stride())));
        }
    }

    private LoaderState state(byte[] text, long at) throws IOException {
        try {
            return LoaderState.fromJson(new String(text, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(path, at, String.valueOf(e.getMessage()), "a loader state");
        }
    }

    private static long padded(int length) {
        return Math.ceilDiv(length, (long) RECORD) * RECORD;
    }

    /** Returns where the last whole record ends, and its seal. */
    static long validEnd(FileChannel file, byte[] seal) throws IOException {
        long end = file.size() / RECORD * RECORD;
        Ledger.Digests digests = new Ledger.Digests();
        ByteBuffer record = ByteBuffer.allocate(RECORD).order(ByteOrder.LITTLE_ENDIAN);
        byte[] before = new byte[Long.BYTES];
        for (long at = end - RECORD; at >= 0; at -= RECORD) {
            Arrays.fill(before, (byte) 0);
            if (at > 0) {
                file.read(ByteBuffer.wrap(before), at - RECORD + Ledger.SEAL_AT);
            }
            file.read(record.clear(), at);
            boolean isStart = record.getLong(0) == Ledger.START;
            int length = isStart ? record.getInt(28) : 0;
            long stop = at + RECORD + padded(Math.max(0, length));
            if (length >= 0 && stop <= end) {
                byte[] text = new byte[length];
                file.read(ByteBuffer.wrap(text), at + RECORD);
                byte[] found = digests.seal(before, record, 0, text);
                record.get(Ledger.SEAL_AT, before);
                if (Arrays.equals(found, 0, Long.BYTES, before, 0, Long.BYTES)) {
                    file.read(ByteBuffer.wrap(seal), stop - RECORD + Ledger.SEAL_AT);
                    return stop;
                }
            }
        }
        Arrays.fill(seal, (byte) 0);
        return 0;
    }

    private long at(Attempt attempt, long step) {
        return attempt.first + step * attempt.stride();
    }

    long position(Attempt attempt, long step) {
        return bytes.get(LONG, at(attempt, step));
    }

    long epoch(Attempt attempt, long step) {
        return bytes.get(LONG, at(attempt, step) + 8);
    }

    long place(Attempt attempt, long step) {
        return bytes.get(LONG, at(attempt, step) + 16);
    }

    int count(Attempt attempt, long step) {
        return bytes.get(INT, at(attempt, step) + 24) & ~Ledger.LAST;
    }

    boolean isLast(Attempt attempt, long step) {
        return bytes.get(INT, at(attempt, step) + 24) < 0;
    }

    int valid(Attempt attempt, long step) {
        return bytes.get(INT, at(attempt, step) + 28);
    }

    long rows(Attempt attempt, long step) {
        return bytes.get(LONG, at(attempt, step) + 32);
    }

    /** Whether it is known what the bytes of a step were: not if a crash tore that off. */
    boolean hasBytes(Attempt attempt, long step) {
        return attempt.hasBytes() && at(attempt, step) + 2 * RECORD <= bytes.byteSize() - torn
                && bytes.get(LONG, at(attempt, step) + RECORD) == Ledger.BYTES && valid(attempt, step) != Ledger.FAILED;
    }

    /** Whether two steps had the same bytes. */
    boolean sameBytes(Attempt attempt, long step, Attempt other, long otherStep) {
        long a = at(attempt, step) + RECORD;
        long b = at(other, otherStep) + RECORD;
        return bytes.get(LONG, a + 8) == bytes.get(LONG, b + 8) && bytes.get(INT, a + 16) == bytes.get(INT, b + 16);
    }

    /** Whether the chain after a step is this one. */
    boolean hasChain(Attempt attempt, long step, byte[] chain) {
        long at = at(attempt, step) + Ledger.CHAIN_AT;
        return MemorySegment.mismatch(bytes, at, at + Ledger.CHAIN_BYTES, MemorySegment.ofArray(chain), 0,
                Ledger.CHAIN_BYTES) < 0;
    }

    @Override
    public void close() {
        arena.close();
    }
}
