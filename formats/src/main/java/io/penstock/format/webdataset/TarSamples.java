// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.error.MalformedStoreException;
import io.penstock.memory.LittleEndian;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the samples of one partition of a {@link WebDatasetSource}, tar after tar. */
final class TarSamples implements PartitionReader {

    /** The most bytes of a sample. */
    private static final int MAX_BYTES = 1 << 30;
    private static final int PIECE_BYTES = 1 << 20;

    private final WebDatasetSource source;
    private final PartitionTars tars;
    private final List<String> members;
    /** How many shards were read, and where the next sample begins in the tar after them. */
    private long shard;
    private long offset;
    private @Nullable OpenTar tar;
    /** The size of the record so far: the table of its parts, if it has several, and the parts that were read. */
    private long bytes;
    /** The wanted members found so far in the sample. */
    private int found;
    private long skipped;

    TarSamples(WebDatasetSource source, int partition, long shard, long offset) {
        this.source = source;
        this.tars = new PartitionTars(source, partition);
        this.members = source.parts();
        this.shard = shard;
        this.offset = offset;
    }

    @Override
    public Found poll(RecordBuffer into) throws IOException {
        while (true) {
            OpenTar from = tar;
            if (from == null) {
                from = tars.open(shard, offset);
                if (from == null) {
                    return Found.END;
                }
                tar = from;
            }
            boolean isSample = from.isAtMember() && read(from, into);
            if (from.isAtMember()) {
                offset = from.reader.entryOffset();
                tars.fetchAhead(from);
            } else {
                tar = null;
                shard++;
                offset = 0;
                from.close();
            }
            if (isSample) {
                into.add(bytes);
                return Found.RECORD;
            }
        }
    }

    /** Writes a sample after the last record; returns false if it is to be left out. */
    private boolean read(OpenTar from, RecordBuffer into) throws IOException {
        long begin = from.reader.entryOffset();
        bytes = members.size() == 1 ? 0 : (long) RecordBuffer.PART_BYTES * members.size();
        into.write(0, bytes);
        found = 0;
        boolean isBad = false;
        do {
            isBad |= from.scanner.saysBad();
            int part = members.indexOf(from.suffixes.text(from.scanner.suffix()));
            if (part >= 0) {
                read(from, part, into);
            }
        } while (from.nextOfSample());
        boolean isIncomplete = found < members.size() && !isBad;
        if (isIncomplete && !source.skipsIncomplete()) {
            throw new MalformedStoreException(from.path, begin, "a sample with " + found + " of the members " + members,
                    "all of them");
        }
        skipped += isIncomplete ? 1 : 0;
        return !isBad && !isIncomplete;
    }

    private void read(OpenTar from, int part, RecordBuffer into) throws IOException {
        long size = from.reader.dataBytes();
        if (size > MAX_BYTES - bytes) {
            throw new MalformedStoreException(from.path, from.reader.entryOffset(), "a sample of more than " + MAX_BYTES
                    + " bytes", "less: a stream holds samples in memory");
        }
        MemorySegment record = into.write(bytes, 0);
        for (long done = 0; done < size;) {             // piece by piece: the header may say more than there is
            long step = Math.min(PIECE_BYTES, size - done);
            record = into.write(bytes + done, step);
            from.read(record, bytes + done, step);
            done += step;
        }
        if (members.size() > 1) {
            record.set(LittleEndian.I32, (long) RecordBuffer.PART_BYTES * part, (int) bytes);
            record.set(LittleEndian.I32, (long) RecordBuffer.PART_BYTES * part + Integer.BYTES, (int) size);
        }
        bytes += size;
        found++;
    }

    @Override
    public String cursor() {
        return shard + ":" + offset;
    }

    @Override
    public Lag lag() {
        return new Lag(-1, -1, skipped);
    }

    @Override
    public void close() throws IOException {
        try (tars) {
            if (tar != null) {
                tar.close();
                tar = null;
            }
        }
    }
}
