// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

/** Trains on a few batches that are copied. Run by {@link NvtxTest}. */
public final class NvtxProgram {

    static final int BATCHES = 6;

    private NvtxProgram() {
    }

    /**
     * Trains.
     *
     * @param none not used
     */
    public static void main(String[] none) {
        try (DataLoader loader = DataLoader.builder(new ByteRows(4 * BATCHES, 64)).batchSize(4).endEpoch(1).workers(2)
                .transfer(TransferMode.COPY).open()) {
            for (Batch batch : loader.epoch()) {
                batch.close();
            }
        }
        System.out.println("trained");
    }
}
