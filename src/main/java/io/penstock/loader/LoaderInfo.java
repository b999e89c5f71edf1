// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.io.ReadMode;

/**
 * The settings that a loader runs with, as they were worked out at open.
 *
 * @param name what the loader is called
 * @param role what its batches are for
 * @param dataset the fingerprint of its dataset
 * @param batchSize samples in a batch, or the most that fit a token budget
 * @param rank which of the processes that train together this is
 * @param worldSize how many they are
 * @param workers worker threads; 0 if batches are made on the trainer's thread
 * @param readMode how bytes of files are brought in
 * @param device what the device is called
 * @param devices how many devices of this process share the workers
 * @param copies whether batches are copied to it
 * @param pinned whether host slots are page-locked
 * @param memory slots and their bytes
 */
public record LoaderInfo(String name, Role role, String dataset, int batchSize, int rank, int worldSize,
        int workers, ReadMode readMode, String device, int devices, boolean copies, boolean pinned,
        LoaderMemory memory) {
}
