// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SeekableByteChannel;

/** A tar that is read from a sample on to its end. For one thread. */
final class OpenTar implements AutoCloseable {

    final Location path;
    final Suffixes suffixes = new Suffixes();
    final TarReader reader;
    final SampleScanner scanner;
    private final SeekableByteChannel channel;
    private final TarSource source;
    /** Whether the scanner is at a member, which begins the next sample unless a sample is being read. */
    private boolean isAtMember;

    /** Reads a tar from the start of a sample on; closes its channel. */
    OpenTar(Location path, SeekableByteChannel channel, long offset, DecodeLimit limit) throws IOException {
        this.path = path;
        this.channel = channel;
        source = PackedTar.openWhole(path, channel, limit);
        try {
            if (!source.skip(offset)) {
                throw new MalformedStoreException(path, source.position(), "the end of the tar",
                        "a sample at byte " + offset + ", as the state says");
            }
            reader = new TarReader(path, source);
            scanner = new SampleScanner(path, reader, suffixes);
            isAtMember = scanner.next();
        } catch (Throwable t) {
            source.close();
            throw t;
        }
    }

    boolean isAtMember() {
        return isAtMember;
    }

    /** About how much of the file has been read, compressed or not. */
    long readBytes() throws IOException {
        return channel.position();
    }

    /** Goes to the next member; false at the end of the sample. */
    boolean nextOfSample() throws IOException {
        isAtMember = scanner.next();
        return isAtMember && !scanner.beginsSample();
    }

    /** Reads bytes of the member's data, from the first one on. */
    void read(MemorySegment into, long offset, long bytes) throws IOException {
        if (source.read(into, offset, bytes) < bytes) {
            throw new MalformedStoreException(path, source.position(), "the tar ends inside the member '"
                    + reader.nameText() + "'", "whole members");
        }
    }

    @Override
    public void close() throws IOException {
        source.close();
    }
}
