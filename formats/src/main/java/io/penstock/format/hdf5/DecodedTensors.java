// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.io.DecodeLimit;
import io.penstock.io.Span;
import io.penstock.io.publish.DecodedBlocks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decoded tensors of a store, in one copy, each aligned to a cache line. The copy is created when the first row is
 * located; the file's size bounds its size.
 */
final class DecodedTensors implements AutoCloseable {

    private static final long ALIGNMENT_BYTES = 64;
    private static final int NONE = -1;

    private final AddressSpace space;
    private final List<StoredDataset> datasets;
    /** A small file may declare any number of elements that were never written. */
    private final DecodeLimit.Budget budget;
    /** For each tensor of the store; null if it is in place, or beyond the bound. */
    private final @Nullable DecodedTensor[] tensors;
    /** For each tensor, the block of its first band. */
    private final int[] firstBlock;
    private final long[] blockBytes;
    private volatile @Nullable DecodedBlocks blocks;
    private boolean closed;

    DecodedTensors(AddressSpace space, List<StoredDataset> datasets, long[] inPlace, DecodeLimit limit) {
        this.space = space;
        this.datasets = datasets;
        this.tensors = new DecodedTensor[inPlace.length];
        this.firstBlock = new int[inPlace.length];
        Arrays.fill(firstBlock, NONE);
        this.budget = limit.budget(space.file().location(), space.file().byteSize());
        List<Long> sizes = new ArrayList<>();
        for (int i = 0; i < inPlace.length; i++) {
            StoredDataset dataset = datasets.get(i);
            if (inPlace[i] < 0 && budget.tryTake(dataset.spec().byteSize())) {
                DecodedTensor tensor = new DecodedTensor(space, dataset);
                tensors[i] = tensor;
                firstBlock[i] = sizes.size();
                for (long band = 0; band < tensor.bands(); band++) {
                    sizes.add(tensor.bandBytes(band));
                }
                sizes.add(-dataset.spec().byteSize() & ALIGNMENT_BYTES - 1);
            }
        }
        this.blockBytes = sizes.stream().mapToLong(Long::longValue).toArray();
    }

    DecodedTensor tensor(int index) throws IOException {
        DecodedTensor tensor = tensors[index];
        if (tensor == null) {
            StoredDataset dataset = datasets.get(index);
            throw budget.exceededBy(dataset.name(), dataset.spec().byteSize());
        }
        return tensor;
    }

    /** Locates rows, decoding them if needed. */
    void locate(int index, long firstRow, long rows, Span into) {
        try {
            DecodedTensor tensor = tensor(index);
            DecodedBlocks known = blocks;
            DecodedBlocks copy = known == null ? create() : known;
            long band = rows == 0 ? 0 : tensor.bandOf(firstRow);
            long offset = rows == 0 ? 0 : (firstRow - tensor.firstRow(band)) * tensor.rowBytes();
            copy.locateRun(firstBlock[index] + (int) band, offset, rows * tensor.rowBytes(), into);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized DecodedBlocks create() throws IOException {
        if (closed) {
            throw new IllegalStateException(space.file().location() + " is closed");
        }
        DecodedBlocks created = blocks;
        if (created == null) {
            created = DecodedBlocks.create(space.file().location(), blockBytes, this::decode);
            blocks = created;
        }
        return created;
    }

    private void decode(int block, MemorySegment target) throws IOException {
        int index = tensors.length - 1;
        while (firstBlock[index] == NONE || firstBlock[index] > block) {
            index--;
        }
        DecodedTensor tensor = tensor(index);
        long band = block - firstBlock[index];
        if (band < tensor.bands()) {
            tensor.decode(band, target);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        DecodedBlocks created = blocks;
        if (created != null) {
            created.close();
        }
    }
}
