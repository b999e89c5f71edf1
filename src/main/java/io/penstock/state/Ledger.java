// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.internal.Sha256;
import io.penstock.internal.SplitMix64;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Shard;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.DigestException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;

/**
 * Writes down what a rank has delivered: 64 bytes a step, appended to a file of the rank. {@link LedgerAudit} proves
 * from the files of all ranks that each position was given once and in order. {@code docs/spec/ledger.md} specifies the
 * file for ports.
 *
 * <pre>
 *         0         8            16      24    28    32     40    48     64
 *   step  position  epoch        place   count valid rows   seal  chain
 *  bytes  -2        bytes        CRC-32C, zeros        seal  chain  behind each step, if they are asked for
 *  start  -1        version rank world tail flags text place seal  chain  then the state's text, filled up with zeros
 * </pre>
 *
 * <p>The <b>chain</b> is the same on every rank, and the state has it: a digest of the chain before and of the step's
 * place. The <b>seal</b> digests a record and the seal before it, so a record that was changed, or torn by a crash, is
 * noticed. A file is only appended to; what a killed process left of a record is cut off when the next one opens it.
 *
 * <p>For one thread at a time. Records are written when a state is asked for, when 64 are waiting, and at the end: a
 * killed process loses none that a saved state counts.
 */
public final class Ledger implements AutoCloseable {

    /** The bytes of a record. */
    static final int RECORD_BYTES = 64;
    static final int CHAIN_BYTES = 16;
    static final int SEAL_AT = 40;
    static final int CHAIN_AT = 48;
    static final int VERSION = 1;
    static final long START = -1;
    static final long BYTES = -2;
    /** A flag of a start: records of bytes follow those of steps. */
    static final int WITH_BYTES = 1;
    /** A flag of a start: what is left of its epoch is less than a batch, and dropped. */
    static final int REST_DROPPED = 2;
    /** Marks the last batch of an epoch in the count. */
    static final int LAST = 1 << 31;
    /** In place of the valid rows: the batch could not be made. */
    static final int FAILED = -1;

    private static final int RECORDS_WAITING = 64;
    private static final byte[] NO_TEXT = {};

    private final Path path;
    private FileChannel file;
    /** The bytes of the file that were written; what is behind is written again. */
    private long end;
    private final ByteBuffer waiting = ByteBuffer.allocate(RECORDS_WAITING * RECORD_BYTES).order(
            ByteOrder.LITTLE_ENDIAN);
    private final Digests digests = new Digests();
    private byte[] seal;
    private byte[] chain = new byte[CHAIN_BYTES];
    private long orderDigest;
    private BatchSampler batches;
    private final boolean hasBytes;

    /** Digests records; one thread at a time. */
    static final class Digests {

        private final MessageDigest sha256 = Sha256.digest();
        private final byte[] result = new byte[sha256.getDigestLength()];
        private final byte[] record = new byte[RECORD_BYTES];
        private final ByteBuffer numbers = ByteBuffer.allocate(4 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);

        /** Computes the chain after a step, in place. */
        void extend(byte[] chain, long epoch, long place, long rows, long orderDigest) {
            sha256.update(chain);
            numbers.clear().putLong(epoch).putLong(place).putLong(rows).putLong(orderDigest);
            sha256.update(numbers.array());
            System.arraycopy(finish(), 0, chain, 0, CHAIN_BYTES);
        }

        /** Returns the seal of a record, of which the first bytes are read; valid until the next call. */
        byte[] seal(byte[] before, ByteBuffer of, int at, byte[] text) {
            of.get(at, record);
            sha256.update(before, 0, Long.BYTES);
            sha256.update(record, 0, SEAL_AT);
            sha256.update(record, CHAIN_AT, CHAIN_BYTES);
            sha256.update(text);
            return finish();
        }

        static long order(LoaderState state) {
            byte[] digest = Sha256.digest().digest((state.sampler() + "\0" + state.dataset())
                    .getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).order(ByteOrder.LITTLE_ENDIAN).getLong();
        }

        private byte[] finish() {
            try {
                sha256.digest(result, 0, result.length);
            } catch (DigestException e) {
                throw new IllegalStateException("room for a digest", e);
            }
            return result;
        }
    }

    private Ledger(Path path, FileChannel file, long end, byte[] seal, BatchSampler batches, boolean hasBytes) {
        this.path = path;
        this.file = file;
        this.end = end;
        this.seal = seal;
        this.batches = batches;
        this.hasBytes = hasBytes;
    }

    /**
     * Opens the ledger of a rank to append to it, and writes where the run begins.
     *
     * @param folder the folder of the files of all ranks; it is created if it does not exist
     * @param batches the rank's batches from where the run begins
     * @return the ledger, to be closed by the caller
     * @throws IOException if the file cannot be read or written
     */
    public static Ledger open(Path folder, BatchSampler batches) throws IOException {
        return open(folder, batches, false);
    }

    /**
     * Opens the ledger of a rank, as {@link #open(Path, BatchSampler)} does, which also has a checksum of the bytes of
     * each batch. The plans of batches then have it.
     *
     * @param folder the folder of the files of all ranks; it is created if it does not exist
     * @param batches the rank's batches from where the run begins
     * @return the ledger, to be closed by the caller
     * @throws IOException if the file cannot be read or written
     */
    public static Ledger openOfBytes(Path folder, BatchSampler batches) throws IOException {
        return open(folder, batches, true);
    }

    private static Ledger open(Path folder, BatchSampler batches, boolean hasBytes) throws IOException {
        Files.createDirectories(folder);
        Path path = file(folder, batches.shard().rank());
        FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        try {
            byte[] seal = new byte[Long.BYTES];
            long end = LedgerFile.validEnd(file, seal);
            file.truncate(end);
            Ledger ledger = new Ledger(path, file, end, seal, batches, hasBytes);
            ledger.begin(batches);
            return ledger;
        } catch (Throwable t) {
            file.close();
            throw t;
        }
    }

    static Path file(Path folder, int rank) {
        return folder.resolve(String.format(Locale.ROOT, "rank-%05d.ledger", rank));
    }

    /**
     * Writes that the run continues elsewhere: at its beginning, and after it was moved or edited.
     *
     * @param from the rank's batches from there on
     */
    public void begin(BatchSampler from) {
        flush();
        LoaderState state = LoaderState.before(from);
        byte[] text = state.toJson().getBytes(StandardCharsets.UTF_8);
        byte[] padded = new byte[Math.ceilDiv(text.length, RECORD_BYTES) * RECORD_BYTES];
        System.arraycopy(text, 0, padded, 0, text.length);
        byte[] fromChain = state.chain().isEmpty() ? new byte[CHAIN_BYTES] : HexFormat.of().parseHex(state.chain());
        Shard shard = from.shard();
        ByteBuffer record = ByteBuffer.allocate(RECORD_BYTES + padded.length).order(ByteOrder.LITTLE_ENDIAN);
        record.putLong(START).putInt(VERSION).putInt(shard.rank()).putInt(shard.worldSize())
                .putInt(shard.tail().ordinal()).putInt(flags(from)).putInt(text.length).putLong(from.startPlace());
        record.put(CHAIN_AT, fromChain).put(RECORD_BYTES, padded);
        byte[] sealed = digests.seal(seal, record, 0, text).clone();
        record.put(SEAL_AT, sealed, 0, Long.BYTES);
        System.arraycopy(padded, padded.length - RECORD_BYTES + SEAL_AT, sealed, 0, Long.BYTES);
        write(record.clear());
        batches = from;
        chain = fromChain;
        orderDigest = Digests.order(state);
        seal = sealed;
    }

    private int flags(BatchSampler from) {
        boolean isRestDropped = from.epochOf(0, from.startEpoch() + 1) != from.startEpoch();
        return (hasBytes ? WITH_BYTES : 0) | (isRestDropped ? REST_DROPPED : 0);
    }

    /**
     * Writes down a batch that the trainer was given.
     *
     * @param plan the batch, with what was put in place of bad samples
     */
    public void delivered(BatchPlan plan) {
        add(plan, batches.countOf(plan.number()), batches.rowsOf(plan.number()), plan.valid());
    }

    /**
     * Writes down a batch that the trainer was given, and that a stream ended within.
     *
     * @param plan the batch
     * @param there how many samples exist from the batch's first position on, over all ranks
     */
    public void delivered(BatchPlan plan, long there) {
        int count = batches.countOf(plan.number(), there);
        add(plan, count, ofAllRanks(count), plan.valid());
    }

    /**
     * Writes down a batch that could not be made.
     *
     * @param number its number in the run
     */
    public void failed(long number) {
        failed(number, false, 0);
    }

    /**
     * Writes down a batch that could not be made, and that a stream ended within.
     *
     * @param number its number in the run
     * @param there how many samples exist from the batch's first position on, over all ranks
     */
    public void failed(long number, long there) {
        failed(number, true, there);
    }

    private void failed(long number, boolean isCut, long there) {
        BatchPlan plan = new BatchPlan(batches.batchSize());
        try {
            if (isCut) {
                batches.plan(number, there, plan);
            } else {
                batches.plan(number, plan);
            }
        } catch (IllegalStateException _) {
            return;                                     // a sample above the budget: never part of a plan
        }
        int count = isCut ? batches.countOf(number, there) : batches.countOf(number);
        add(plan, count, isCut ? ofAllRanks(count) : batches.rowsOf(number), FAILED);
    }

    private long ofAllRanks(int count) {
        return (long) count * batches.shard().worldSize();
    }

    /** Adds a record, unless those that wait cannot be written. */
    private void add(BatchPlan plan, int count, long rowsOfAll, int valid) {
        if (waiting.remaining() < (hasBytes ? 2 : 1) * RECORD_BYTES) {
            flush();
        }
        long place = batches.placeOf(plan.number());
        int at = waiting.position();
        digests.extend(chain, plan.epoch(), place, rowsOfAll, orderDigest);
        waiting.putLong(batches.positionOf(plan.number())).putLong(plan.epoch()).putLong(place)
                .putInt(batches.isLastOfEpoch(plan.number()) ? count | LAST : count).putInt(valid)
                .putLong(rows(plan)).putLong(0).put(chain);
        sealed(at);
        if (hasBytes) {
            at = waiting.position();
            waiting.putLong(BYTES).putLong(plan.contentBytes()).putInt(plan.contentSum()).putInt(0).putLong(0)
                    .putLong(0).putLong(0).put(chain);
            sealed(at);
        }
    }

    private void sealed(int at) {
        byte[] sealed = digests.seal(seal, waiting, at, NO_TEXT);
        System.arraycopy(sealed, 0, seal, 0, Long.BYTES);
        waiting.put(at + SEAL_AT, seal, 0, Long.BYTES);
    }

    /** Digests the positions and samples of rows. */
    static long rows(BatchPlan plan) {
        long rows = 0;
        for (int i = 0; i < plan.count(); i++) {
            rows = addRow(rows, plan.position(i), plan.sample(i));
        }
        return rows;
    }

    static long addRow(long rows, long position, long sample) {
        return SplitMix64.first(SplitMix64.first(rows ^ position) ^ sample);
    }

    /** {@return the digest of all that was delivered, as 32 hexadecimal digits} Writes what is waiting to the file. */
    public String chain() {
        flush();
        return HexFormat.of().formatHex(chain);
    }

    private void flush() {
        write(waiting.duplicate().flip());
        waiting.clear();
    }

    /**
     * Appends bytes, even if the thread is interrupted, which closes the channel. What fails may be tried again: it is
     * written to the same place.
     */
    private void write(ByteBuffer bytes) {
        boolean interrupted = Thread.interrupted();
        long at = end;
        try {
            while (bytes.hasRemaining()) {
                try {
                    at += file.write(bytes, at);
                } catch (ClosedByInterruptException _) {
                    interrupted |= Thread.interrupted();
                    file = FileChannel.open(path, StandardOpenOption.WRITE);
                    bytes.rewind();
                    at = end;
                }
            }
            end = at;
        } catch (IOException e) {
            throw new UncheckedIOException("the ledger cannot be written: " + e.getMessage(), e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() {
        try {
            try {
                flush();
            } finally {
                file.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the ledger cannot be closed: " + e.getMessage(), e);
        }
    }
}
