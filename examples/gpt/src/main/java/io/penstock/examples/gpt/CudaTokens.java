// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A batch in device memory.
 *
 * <p>The stream of the kernels waits for a batch's copy, the host does not. One kernel copies the batch here. It is
 * enqueued when {@link #read} returns, so the batch may be closed then: the loader's next copy to its slot waits on the
 * device until that kernel has run.
 */
final class CudaTokens implements TokenBatch {

    /** {@code i32 [rows]} each. */
    final DeviceBuffer ids;
    final DeviceBuffer positions;
    final DeviceBuffer labels;
    /** The number of labels, as a double. */
    final DeviceBuffer labelled;
    /** Room for a double a row: its loss. */
    final DeviceBuffer losses;
    int rows;

    private final DeviceStream stream;
    private final CudaKernels.Kernel readBatch;
    private final CudaKernels.Kernel countLabels;
    private final int context;
    /** Of each token its number, or -1: {@code i32 [tokens]}. */
    private final DeviceBuffer numbers;
    private final long tokens;

    CudaTokens(CudaMemory memory, DeviceStream stream, CudaKernels kernels, int maxSequences, int context,
            Vocabulary vocabulary) {
        this.stream = stream;
        this.context = context;
        readBatch = kernels.find("gpt_read_batch");
        countLabels = kernels.find("gpt_count_labels");
        long maxRows = (long) maxSequences * context;
        ids = memory.allocate(maxRows * Integer.BYTES);
        positions = memory.allocate(maxRows * Integer.BYTES);
        labels = memory.allocate(maxRows * Integer.BYTES);
        labelled = memory.allocate(Double.BYTES);
        losses = memory.allocate(maxRows * Double.BYTES);
        int[] table = new int[vocabulary.token(vocabulary.size() - 1) + 1];
        Arrays.fill(table, -1);
        for (int number = 0; number < vocabulary.size(); number++) {
            table[vocabulary.token(number)] = number;
        }
        tokens = table.length;
        numbers = memory.allocate(tokens * Integer.BYTES);
        memory.copyToDevice(numbers, 0, MemorySegment.ofArray(table));
    }

    static CudaTokens of(TokenBatch batch) {
        return (CudaTokens) batch;
    }

    @Override
    public int rows() {
        return rows;
    }

    @Override
    public Batch next(DataLoader loader) {
        return loader.next(stream);
    }

    @Override
    public void read(Batch batch) {
        batch.usedOn(stream);               // for a batch that was not taken by next(stream)
        rows = batch.valid() * context;
        readBatch.each(rows, batch.address("input_ids"), batch.address("labels"), batch.address("position_ids"),
                numbers.address(), tokens, rows, ids.address(), labels.address(), positions.address());
        countLabels();
    }

    void countLabels() {
        countLabels.blocks(1, labels.address(), rows, labelled.address());
    }
}
