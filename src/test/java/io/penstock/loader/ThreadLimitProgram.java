// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.Device;
import io.penstock.error.LimitException;

/** Opens a loader where the OS has no thread for every worker. Run by {@link ThreadLimitTest}. */
public final class ThreadLimitProgram {

    private ThreadLimitProgram() {
    }

    /**
     * Prints what the error says, and what is left of the loader.
     *
     * @param transfer how batches are lent
     */
    public static void main(String[] transfer) {
        try (Device device = Device.host()) {
            DataLoader.builder(new ByteRows(1_000, 32)).batchSize(8).workers(200).device(device)
                    .transfer(TransferMode.valueOf(transfer[0])).name("limited").open();
            System.out.println("opened");
        } catch (LimitException e) {
            System.out.println("error: " + e.getMessage());
        }
        System.out.println("left: " + HeldMap.threads("limited"));
    }
}
