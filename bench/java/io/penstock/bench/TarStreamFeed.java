// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.format.webdataset.ShardList;
import io.penstock.format.webdataset.StreamOrder;
import io.penstock.format.webdataset.WebDatasetStream;
import io.penstock.io.Location;
import io.penstock.io.Span;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * Tar after tar from front to back on the thread that asks, through a shuffle buffer of 1,000 samples, copied into a
 * batch of 64: what the {@code webdataset} library does.
 */
final class TarStreamFeed implements Feed {

    private static final int BUFFER_SAMPLES = 1000;

    private final WebDatasetStream stream;
    private final Span span = new Span();
    private final byte[] batch = new byte[WebDatasetShards.BATCH * WebDatasetShards.SAMPLE_BYTES];
    private final MemorySegment target = MemorySegment.ofArray(batch);
    /** Where the labels' digits were found, so that locating them is not left out. */
    private long labelBytes;

    TarStreamFeed(Path shards) throws IOException {
        stream = WebDatasetStream.open(ShardList.of(Location.of(shards)), StreamOrder.shuffled(1, BUFFER_SAMPLES), 0);
    }

    @Override
    public int take() throws IOException {
        for (long row = 0; row < WebDatasetShards.BATCH; row++) {
            while (!stream.next()) {
                stream.nextEpoch();
            }
            stream.locate("bin", span);
            MemorySegment.copy(span.segment(), span.byteOffset(), target, row * WebDatasetShards.SAMPLE_BYTES,
                    span.byteSize());
            stream.locate("cls", span);
            labelBytes += span.byteSize();
        }
        return WebDatasetShards.BATCH;
    }

    @Override
    public MemorySegment bytes() {
        return target;
    }

    @Override
    public void release() {
        if (labelBytes < 0) {
            throw new IllegalStateException("labels of " + labelBytes + " bytes");
        }
    }

    @Override
    public int slots() {
        return 1;
    }

    @Override
    public void close() {
        try {
            stream.close();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
