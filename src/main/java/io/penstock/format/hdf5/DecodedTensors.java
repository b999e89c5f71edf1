package io.penstock.format.hdf5;

import io.penstock.codec.DecodeLimit;
import io.penstock.io.Span;
import io.penstock.io.spill.DecodedBlocks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The tensors of a store that are decoded, in one copy, each at the place of a cache line. The copy is made when the
 * first row is located; what it has room for is bounded by the file's size.
 */
final class DecodedTensors implements AutoCloseable {

    private static final long ALIGNMENT_BYTES = 64;
    private static final int NONE = -1;

    private final AddressSpace space;
    private final List<StoredDataset> datasets;
    /** A file may say in few bytes that it holds any number of elements, none of which was ever written. */
    private final DecodeLimit.Budget budget;
    /** By tensor of the store; null if it is in place, or beyond the bound. */
    private final DecodedTensor[] tensors;
    /** By tensor: the block that has its first band. */
    private final int[] firstBlock;
    private final long[] blockBytes;
    private volatile DecodedBlocks blocks;
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
                tensors[i] = new DecodedTensor(space, dataset);
                firstBlock[i] = sizes.size();
                for (long band = 0; band < tensors[i].bands(); band++) {
                    sizes.add(tensors[i].bandBytes(band));
                }
                sizes.add(-dataset.spec().byteSize() & ALIGNMENT_BYTES - 1);
            }
        }
        this.blockBytes = sizes.stream().mapToLong(Long::longValue).toArray();
    }

    /** A tensor that is decoded. */
    DecodedTensor tensor(int index) throws IOException {
        if (tensors[index] == null) {
            StoredDataset dataset = datasets.get(index);
            throw budget.exceededBy(dataset.name(), dataset.spec().byteSize());
        }
        return tensors[index];
    }

    /** Points at rows, which are decoded if they were not. */
    void locate(int index, long firstRow, long rows, Span into) {
        try {
            DecodedTensor tensor = tensor(index);
            DecodedBlocks copy = blocks == null ? create() : blocks;
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
        if (blocks == null) {
            blocks = DecodedBlocks.create(space.file().location(), blockBytes, this::decode);
        }
        return blocks;
    }

    private void decode(int block, MemorySegment target) throws IOException {
        int tensor = tensors.length - 1;
        while (firstBlock[tensor] == NONE || firstBlock[tensor] > block) {
            tensor--;
        }
        long band = block - firstBlock[tensor];
        if (band < tensors[tensor].bands()) {
            tensors[tensor].decode(band, target);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (blocks != null) {
            blocks.close();
        }
    }
}
