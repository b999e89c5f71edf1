// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.io.ReadMode;
import io.penstock.loader.DataLoader.Role;

/**
 * The settings that a loader runs with, defaults included.
 *
 * @param name the loader's name
 * @param role the purpose of its batches
 * @param dataset the fingerprint of its dataset
 * @param batchSize samples in a batch, or the most that fit a token budget
 * @param rank this process's rank
 * @param worldSize the number of ranks
 * @param workers worker threads; 0 if batches are made on the trainer's thread
 * @param readMode how files are read
 * @param device the device's name
 * @param devices how many devices of this process share the workers
 * @param copies whether batches are copied to the device
 * @param pinned whether host slots are page-locked
 * @param memory slots and their bytes
 */
public record LoaderInfo(String name, Role role, String dataset, int batchSize, int rank, int worldSize,
        int workers, ReadMode readMode, String device, int devices, boolean copies, boolean pinned,
        LoaderMemory memory) {
}
